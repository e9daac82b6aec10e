"use strict";
// Loaded before anything is drawn: the theme that was chosen, else the system's.
(() => {
  const key = "gitrag-theme";
  const stored = (() => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null; // no storage: the system's theme
    }
  })();
  if (stored === "light" || stored === "dark") document.documentElement.dataset.theme = stored;
  // The token has become a cookie: it need not stay in the address bar.
  const address = new URL(location.href);
  if (address.searchParams.has("token")) {
    address.searchParams.delete("token");
    history.replaceState(null, "", address.pathname + address.search + address.hash);
  }
  document.addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme").addEventListener("click", () => {
      const now = document.documentElement.dataset.theme;
      const isDark = now ? now === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      document.documentElement.dataset.theme = isDark ? "light" : "dark";
      try {
        localStorage.setItem(key, isDark ? "light" : "dark");
      } catch {
        // it holds for this page alone
      }
    });
  });
  document.addEventListener("keydown", (event) => {
    const field = document.getElementById("q");
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "");
    if (document.getElementById("search")) return; // the picture's own
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const link = document.getElementById({ t: "files", y: "permalink", b: "blame" }[event.key]);
    if (link) link.click();
    else if (event.key === "/") {
      field.focus();
      field.select();
    } else return;
    event.preventDefault();
  });
})();
