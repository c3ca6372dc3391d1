// An answer's text, token by token: coloured by drafter, one tab stop, arrow keys within.

import { hue } from "./drafters.js";
import { el } from "./dom.js";
import { t } from "./i18n.js";
import { hideTip, showTip } from "./tip.js";

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

export class TokenView {
  constructor() {
    this.node = el("div", { className: "text", role: "group", "aria-label": t("tokens.label") });
    this.tokens = new Map();
    this.shown = 0;
    this.node.addEventListener("keydown", (event) => this.#key(event));
    for (const event of ["pointerover", "focusin", "click"]) {
      this.node.addEventListener(event, ({ target }) => {
        if (this.tokens.has(target)) showTip(target, this.tokens.get(target));
      });
    }
    for (const event of ["pointerleave", "focusout"]) this.node.addEventListener(event, hideTip);
    this.node.addEventListener("click", ({ target }) => {
      if (this.tokens.has(target)) this.#stop(target).focus({ preventScroll: true });
    });
  }

  /** Show the first `count` tokens of an answer; those that are there already stay. */
  show(tokens, count = tokens.length) {
    const fresh = tokens.slice(this.shown, count).map((token) => this.#make(token));
    this.node.append(...fresh);
    this.shown = Math.max(this.shown, count);
  }

  #make(token) {
    // A token may end in the middle of a character; the next one then brings its text.
    if (token.text === "") return el("span", { hidden: true });
    const kind = token.from_draft ? `tok drafted ${hue(token.drafter)}` : "tok";
    const node = el("span", { className: kind, tabIndex: this.tokens.size ? -1 : 0 }, token.text);
    this.tokens.set(node, token);
    return node;
  }

  /** Mark the token in which this text first differs from another, or that it ends there. */
  mark(index) {
    const node = this.node.children[index];
    if (node && !node.hidden) node.classList.add("differs");
    else this.node.append(" ", el("span", { className: "differs" }, t("race.ends")));
  }

  /** Make a token the one tab stop. */
  #stop(node) {
    this.node.querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
    node.tabIndex = 0;
    return node;
  }

  #key(event) {
    const all = [...this.node.querySelectorAll(".tok")];
    const here = all.indexOf(document.activeElement);
    if (here < 0) return;
    const ends = { Home: 0, End: all.length - 1 };
    const next = event.key in ends ? ends[event.key] : here + (STEPS[event.key] ?? NaN);
    if (Number.isNaN(next)) return;
    event.preventDefault();
    if (all[next]) this.#stop(all[next]).focus();
  }
}
