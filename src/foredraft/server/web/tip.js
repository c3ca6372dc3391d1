// The one tooltip of the page: where a token came from.

import { byId, el } from "./dom.js";
import { fixed, visible } from "./format.js";
import { t } from "./i18n.js";

const GAP = 8;
let owner = null;

function lines(token) {
  const from = token.from_draft ? t("tip.drafted", { drafter: token.drafter }) : t("tip.target");
  const facts = [from];
  if (token.p !== null && token.p !== undefined) {
    facts.push(t("tip.p", { p: token.p < 0.001 ? token.p.toExponential(1) : fixed(token.p, 3) }));
  }
  if (token.rank) facts.push(t("tip.rank", { rank: token.rank }));
  if (token.round >= 0) facts.push(t("tip.round", { round: token.round + 1 }));
  return facts;
}

/** Show what is known of a token beside its element, on whichever side there is room. */
export function showTip(node, token) {
  hideTip();
  const tip = byId("tip");
  tip.replaceChildren(
    el("code", {}, visible(token.text)), ...lines(token).map((line) => el("span", {}, line)));
  tip.hidden = false;
  owner = node;
  node.setAttribute("aria-describedby", "tip");
  const at = node.getClientRects()[0] ?? node.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.min(Math.max(GAP, at.left), innerWidth - width - GAP);
  const above = at.top - height - GAP;
  tip.style.left = `${left}px`;
  tip.style.top = `${above > GAP ? above : at.bottom + GAP}px`;
}

export function hideTip() {
  byId("tip").hidden = true;
  owner?.removeAttribute("aria-describedby");
  owner = null;
}

document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
document.addEventListener("scroll", hideTip, { passive: true, capture: true });
