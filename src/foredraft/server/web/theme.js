// Light, dark, or as the system says.

import { t } from "./i18n.js";
import { keep } from "./memory.js";

const ORDER = ["auto", "light", "dark"];
const listeners = [];

/** Call `heard` when colours change; canvases have to be painted anew. */
export function onTheme(heard) {
  listeners.push(heard);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", heard);
}

/** The colours that custom properties have now, each as its [red, green, blue]. */
export function palette(...names) {
  const probe = document.body.appendChild(document.createElement("i"));
  const found = names.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color.match(/\d+/g).slice(0, 3).map(Number)];
  });
  probe.remove();
  return Object.fromEntries(found);
}

export function themeButton(button) {
  const root = document.documentElement;
  const show = () => {
    const text = t(`theme.${root.dataset.theme}`);
    button.setAttribute("aria-label", text);
    button.title = text;
  };
  button.addEventListener("click", () => {
    root.dataset.theme = ORDER[(ORDER.indexOf(root.dataset.theme) + 1) % ORDER.length];
    keep("theme", root.dataset.theme);
    show();
    for (const heard of listeners) heard();
  });
  show();
  return show;
}
