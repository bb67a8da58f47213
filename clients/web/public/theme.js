// Chooses light or dark before anything is painted; the settings of the page take over from here.
(function () {
  var chosen = {};
  try {
    chosen = JSON.parse(localStorage.getItem("towerhall.settings") || "{}") || {};
  } catch (problem) {
    chosen = {};
  }
  var dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  var theme = chosen.theme === "light" || chosen.theme === "dark" ? chosen.theme : dark ? "dark" : "light";
  document.documentElement.dataset.theme = theme;
  if (chosen.lessMotion === true) document.documentElement.dataset.motion = "less";
})();
