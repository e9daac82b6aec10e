"use strict";
// Search as one types: one question at a time is on its way, then the newest one.
// After a pause it is asked once more, as a finished one: of the files as they are, and with spelling looked at.
(() => {
  const PAUSE_MS = 300;
  const field = document.querySelector("[data-live]") ?? document.getElementById("q");
  const answer = document.getElementById("answer");
  let shown = field.defaultValue.trim(); // what the answer is of; somebody may have typed on before this runs
  let told = shown; // what was last asked, answered or not
  let finer = null; // shows the finished answer, where somebody is in the one before it
  let busy = false;
  let pause = 0;

  function addressOf(query) {
    const address = new URL(field.form.action);
    const asked = new URLSearchParams(new FormData(field.form));
    if (query) asked.set("q", query);
    else asked.delete("q");
    address.search = asked;
    return address;
  }

  function show(page, query, address) {
    answer.replaceChildren(...page.getElementById("answer").childNodes);
    document.title = page.title;
    history.replaceState(null, "", address.pathname + address.search);
    shown = told = query;
  }

  function ask(finished) {
    const query = field.value.trim();
    if (busy || (query === told && !finished)) return;
    clearTimeout(pause);
    busy = true;
    finer = null;
    const address = addressOf(query);
    const request = new XMLHttpRequest();
    request.open("GET", address.pathname + address.search);
    if (!finished) request.setRequestHeader("X-Gitrag-Unfinished", "1");
    request.responseType = "document"; // parsed without running anything
    request.addEventListener("loadend", () => {
      busy = false;
      const page = request.response;
      if (page?.getElementById("answer")) {
        if (finished && answer.contains(document.activeElement)) finer = () => show(page, query, address);
        else if (!finished || query === field.value.trim()) show(page, query, address);
      } else {
        const said = page?.querySelector("h1")?.textContent;
        answer.querySelector(".said").textContent = said ?? "No answer: start gitrag web again.";
        told = query; // not asked again and again
      }
      if (field.value.trim() !== told) ask(false);
      else if (!finished && query) pause = setTimeout(() => ask(true), PAUSE_MS);
    });
    request.send();
  }
  field.addEventListener("input", () => ask(false));
  field.form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim() === shown) links()[0]?.click();
    else {
      told = null;
      ask(false);
    }
  });
  if (field.value.trim() !== shown) ask(false);
  field.addEventListener("focus", () => {
    finer?.();
    finer = null;
  });

  function links() {
    return [...answer.querySelectorAll("a.to")];
  }

  function step(by) {
    const all = links();
    const now = all.indexOf(document.activeElement);
    if (by < 0 && now <= 0) {
      field.focus();
      return;
    }
    const next = all[now < 0 ? 0 : Math.min(now + by, all.length - 1)];
    next?.focus();
    next?.closest(".hit").scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isInAnswer = answer.contains(document.activeElement);
    const isInField = document.activeElement === field;
    if (event.key === "ArrowDown" && (isInField || isInAnswer)) step(1);
    else if (event.key === "ArrowUp" && isInAnswer) step(-1);
    else if (event.key === "Escape" && !isInField) {
      field.focus();
      field.select();
    } else return;
    event.preventDefault();
  });
})();
