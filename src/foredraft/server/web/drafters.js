// One colour and one underline a drafter, the same everywhere on the page.

import { el } from "./dom.js";
import { t } from "./i18n.js";

const slots = new Map([["suffix", 1], ["ngram", 2], ["model", 3], ["prediction", 4]]);
const LAST = 6;

/** The class of a drafter's colour; those beyond the sixth share the last. */
export function hue(drafter) {
  if (!slots.has(drafter)) slots.set(drafter, Math.min(LAST, slots.size + 1));
  return `d${slots.get(drafter)}`;
}

/** What the colours mean. */
export function legend(drafters) {
  const sample = (kind, text) => el("li", {}, el("span", { className: kind }, text));
  return el("ul", { className: "legend" },
    ...drafters.map((name) => sample(`tok drafted ${hue(name)}`, name)),
    sample("tok", t("legend.target")));
}
