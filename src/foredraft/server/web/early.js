// Before the first paint, so that neither the theme nor the language is seen to change.
(() => {
  const saved = (name) => {
    try {
      return localStorage.getItem(`foredraft.${name}`);
    } catch {
      return null;
    }
  };
  const root = document.documentElement;
  root.dataset.theme = saved("theme") ?? "auto";
  root.lang = saved("language") ?? (navigator.language.startsWith("ja") ? "ja" : "en");
})();
