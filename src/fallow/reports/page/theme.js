// Before anything is drawn: the theme that was chosen here before, or the system's.
(() => {
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try {
    chosen = localStorage.getItem("fallow-theme");
  } catch {
    /* a page from a file may have no storage */
  }
  const system = () => (dark.matches ? "dark" : "light");
  root.dataset.theme = chosen === "dark" || chosen === "light" ? chosen : system();
  dark.addEventListener("change", () => {
    if (!chosen) root.dataset.theme = system();
  });
  window.addEventListener("fallow-theme", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    root.dataset.theme = chosen;
    try {
      localStorage.setItem("fallow-theme", chosen);
    } catch {
      /* then it lasts until the page is closed */
    }
  });
})();
