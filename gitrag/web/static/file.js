"use strict";
// What takes a moment comes after the source, one below the other, so that nothing moves.
(() => {
  const file = document.getElementById("file");
  const beside = document.getElementById("beside");
  const waiting = document.getElementById("waiting");

  function link(part) {
    for (const each of part.querySelectorAll("a[data-line]")) {
      const code = document.querySelector(`#L${each.dataset.line} code`);
      if (!code) continue;
      const words = [...code.querySelectorAll("span")].filter((word) => word.textContent === each.dataset.name);
      const word = words.find((candidate) => !candidate.closest("a"));
      if (!word) continue;
      const anchor = document.createElement("a");
      anchor.className = "defined";
      anchor.href = each.getAttribute("href");
      anchor.title = each.title;
      word.replaceWith(anchor);
      anchor.append(word);
    }
  }

  function read(parts) {
    const [part, ...others] = parts;
    if (!part) {
      waiting.remove();
      return;
    }
    const request = new XMLHttpRequest();
    request.open("GET", file.dataset.beside.replace("/beside//", `/beside/${part}/`));
    request.responseType = "document";
    request.addEventListener("loadend", () => {
      const found = request.response?.getElementById("part");
      if (found) {
        beside.insertBefore(found, waiting);
        link(found);
      }
      read(others);
    });
    request.send();
  }

  // Lines of a range, as in #L12-L20, and the first of them in sight.
  function mark() {
    const found = /^#L(\d+)(?:-L?(\d+))?$/.exec(location.hash);
    for (const each of document.querySelectorAll(".source .here")) each.classList.remove("here");
    if (!found) return;
    const [first, last] = [Number(found[1]), Number(found[2] ?? found[1])];
    for (let number = first; number <= Math.min(last, first + 2000); number++)
      document.getElementById(`L${number}`)?.classList.add("here");
    if (found[2]) document.getElementById(`L${first}`)?.scrollIntoView({ block: "center" });
  }
  document.querySelector(".source").addEventListener("click", (event) => {
    const anchor = event.target.closest(".source > div > a");
    const first = /^#L(\d+)/.exec(location.hash);
    if (!anchor || !event.shiftKey || !first) return;
    event.preventDefault();
    const last = Number(anchor.getAttribute("href").slice(2));
    location.hash = `#L${Math.min(Number(first[1]), last)}-L${Math.max(Number(first[1]), last)}`;
  });
  addEventListener("hashchange", mark);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") document.getElementById("q").focus();
  });
  mark();
  if (file.dataset.beside) read(["history", "documents", "calls"]);
})();
