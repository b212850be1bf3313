// Runs before the first paint, so that a chosen theme does not flash. Everything else is a module.
(function () {
  try {
    var theme = localStorage.getItem("plegscope.theme");
    if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
  } catch (error) {
    // Storage is switched off: the system's theme it is.
    void error;
  }
})();
