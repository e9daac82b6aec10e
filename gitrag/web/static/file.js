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
      const problem = request.response?.querySelector(".problem");
      if (found) {
        beside.insertBefore(found, waiting);
        link(found);
      } else if (problem) {
        const said = document.createElement("p");
        said.className = "by";
        said.textContent = [...problem.children].map((line) => line.textContent).join(" ");
        beside.insertBefore(said, waiting);
      }
      read(others);
    });
    request.send();
  }

  // Lines of a range, as in #L12-L20, and the first of them in sight; links that lead to lines lead to these.
  function lines() {
    const found = /^#L(\d+)(?:-L?(\d+))?$/.exec(location.hash);
    return found ? [Number(found[1]), Number(found[2] ?? found[1])] : [0, 0];
  }
  const leading = [...document.querySelectorAll("a[data-lines]")].map((link) => [link, link.getAttribute("href")]);
  function mark() {
    const [first, last] = lines();
    for (const [link, address] of leading) {
      const at = link.dataset.lines.replace("{first}", first || 1).replace("{last}", last);
      const isLine = first || !at.startsWith("#");
      link.setAttribute("href", address + (!isLine ? "" : last > first ? at : at.split("-")[0]));
    }
    for (const each of document.querySelectorAll(".source .here")) each.classList.remove("here");
    if (!first) return;
    for (let number = first; number <= Math.min(last, first + 2000); number++)
      document.getElementById(`L${number}`)?.classList.add("here");
    if (last > first) document.getElementById(`L${first}`)?.scrollIntoView({ block: "center" });
  }

  // A path with the lines that are marked, or those lines as Markdown.
  function copied(what, path) {
    const [first, last] = lines();
    const place = path + (first ? `:${first}${last > first ? `-${last}` : ""}` : "");
    if (what === "path") return place;
    const rows = [...document.querySelectorAll(".source > div > code")].slice(first ? first - 1 : 0, last || undefined);
    const text = rows.map((row) => row.textContent).join("");
    const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map((ticks) => ticks[0].length + 1)));
    return `${place}\n${fence}${file.dataset.language}\n${text}${fence}\n`;
  }
  for (const button of document.querySelectorAll("[data-copies]")) {
    const label = button.textContent;
    button.addEventListener("click", async () => {
      const path = document.querySelector("[data-path]").dataset.path;
      await navigator.clipboard.writeText(copied(button.dataset.copies, path)).then(
        () => (button.textContent = "Copied"),
        () => (button.textContent = "Not allowed"),
      );
      setTimeout(() => (button.textContent = label), 1500);
    });
  }

  // A name that is clicked offers where it stands.
  document.querySelector(".source").addEventListener("click", (event) => {
    document.querySelector(".named")?.remove();
    const word = event.target.closest("code .w, code .f");
    if (!word || word.closest("a") || String(getSelection())) return;
    const link = document.createElement("a");
    const address = new URL(file.dataset.references, location);
    address.searchParams.set("target", word.textContent.trim());
    link.href = address.pathname + address.search;
    link.className = "named";
    link.textContent = "references";
    word.after(link);
  });
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
