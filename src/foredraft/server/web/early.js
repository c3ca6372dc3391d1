// Before the first paint, so that neither the theme nor the language is seen to change.
(() => {
  let saved = () => null;
  try { saved = (name) => localStorage.getItem(`foredraft.${name}`); saved("theme"); } catch { saved = () => null; }
  const root = document.documentElement;
  root.dataset.theme = saved("theme") ?? "auto";
  root.lang = saved("language") ?? (navigator.language.startsWith("ja") ? "ja" : "en");
})();
