// The page in the reader's language.

import en from "./en.js";
import ja from "./ja.js";
import { keep } from "./memory.js";

export const TEXTS = { en, ja };
const listeners = [];

export const language = () => (document.documentElement.lang === "ja" ? "ja" : "en");

/** A text in the current language, with {names} filled in. */
export function t(key, values = {}) {
  return TEXTS[language()][key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** What the server says in English, in the current language where it is a known sentence. */
export function said(sentence) {
  const key = `said.${sentence}`;
  return TEXTS[language()][key] ?? sentence;
}

/** Fill in every element that names its text: data-t, and data-t-ATTRIBUTE for attributes. */
export function translate(root = document) {
  for (const node of root.querySelectorAll("[data-t]")) node.textContent = t(node.dataset.t);
  for (const attribute of ["aria-label", "placeholder", "title"]) {
    for (const node of root.querySelectorAll(`[data-t-${attribute}]`)) {
      node.setAttribute(attribute, t(node.getAttribute(`data-t-${attribute}`)));
    }
  }
}

/** Call `heard` whenever the language changes; views draw what they show anew. */
export function onLanguage(heard) {
  listeners.push(heard);
}

export function setLanguage(next) {
  document.documentElement.lang = next;
  keep("language", next);
  translate();
  for (const heard of listeners) heard();
}
