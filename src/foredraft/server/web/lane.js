// One side of a race: an answer shown as it came, by its own clock.

import { byId } from "./dom.js";
import { fixed, times } from "./format.js";
import { t } from "./i18n.js";
import { TokenView } from "./tokens.js";

export class Lane {
  constructor(name) {
    this.name = name;
    this.answer = null;
  }

  #part(part) {
    return byId(`race-${this.name}-${part}`);
  }

  /** Begin anew; `answer` may still be empty. */
  start(answer) {
    this.answer = answer;
    this.view = new TokenView();
    this.#part("text").replaceChildren(this.view.node);
    this.#part("clock").textContent = "–";
    this.#part("note").textContent = "";
  }

  /** Show what had come `seconds` after decoding began; true once that is all. */
  at(seconds) {
    const { answer } = this;
    const until = answer.begun + 1000 * seconds;
    let count = this.view.shown;
    while (count < answer.arrivals.length && answer.arrivals[count] <= until) count += 1;
    this.view.show(answer.tokens, count);
    const over = seconds >= answer.seconds;
    this.#part("clock").textContent = `${fixed(over ? answer.seconds : seconds)} s`;
    if (over) this.#note();
    return over;
  }

  /** Show what has come so far, while it is measured. */
  measure() {
    this.view.show(this.answer.tokens);
    this.#part("note").textContent = t("race.measuring", { tokens: this.answer.tokens.length });
  }

  #note() {
    const { answer } = this;
    this.#part("note").textContent = t("race.lane", {
      tokens: answer.tokens.length, passes: answer.rounds.length,
      speed: fixed(answer.tokens.length / answer.seconds, 1), gain: times(answer.speedup(null)),
    });
  }
}
