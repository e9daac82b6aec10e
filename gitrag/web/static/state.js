"use strict";
// What changes by itself: asked for again while the page is in sight; this does not keep it from ending.
(() => {
  const EVERY_MS = 4000;
  function look() {
    if (document.hidden) {
      setTimeout(look, EVERY_MS);
      return;
    }
    const request = new XMLHttpRequest();
    const address = new URL(location.href);
    address.searchParams.delete("checks");
    request.open("GET", address.pathname + address.search);
    request.setRequestHeader("X-Gitrag-Live", "1");
    request.responseType = "document";
    request.addEventListener("load", () => {
      const now = request.response?.getElementById("live");
      const before = document.getElementById("live");
      if (now && now.textContent !== before.textContent) {
        const figures = now.querySelector("#figures");
        if (figures) figures.open = before.querySelector("#figures")?.open ?? false;
        before.replaceWith(now);
      }
      setTimeout(look, EVERY_MS);
    });
    request.send();
  }
  setTimeout(look, EVERY_MS);

  const others = document.getElementById("repositories");
  if (others) {
    const request = new XMLHttpRequest();
    request.open("GET", "/repositories");
    request.responseType = "document";
    request.addEventListener("loadend", () => {
      const found = request.response?.getElementById("part");
      if (found) others.replaceChildren(found);
      else others.querySelector(".waiting").textContent = "How the other repositories stand could not be read.";
    });
    request.send();
  }
})();
