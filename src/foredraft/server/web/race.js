// The race: one prompt without and with speculation, measured in turns and shown side by side.

import { Answer } from "./answer.js";
import { Problem } from "./api.js";
import { byId, calm, onSubmit } from "./dom.js";
import { fixed, times } from "./format.js";
import { onLanguage, t } from "./i18n.js";
import { Lane } from "./lane.js";
import { notice } from "./notice.js";
import { freshSeed } from "./settings.js";

export class Race {
  constructor({ settings, panel, answers, askKey }) {
    Object.assign(this, { settings, panel, answers, askKey });
    this.off = new Lane("off");
    this.on = new Lane("on");
    this.stopper = null;
    this.run = 0;
    onSubmit("race-form", () => this.#race());
    byId("race-stop").addEventListener("click", () => this.stopper?.abort());
    byId("race-again").addEventListener("click", () => this.#replay());
    byId("race-prompt").value = t("example.repeat");
    onLanguage(() => { if (this.finished) this.#verdict(); });
  }

  get finished() {
    return Boolean(this.off.answer?.finish && this.on.answer?.finish);
  }

  async #race() {
    const content = byId("race-prompt").value.trim();
    if (!content || this.stopper) return;
    this.stopper = new AbortController();
    this.#begin();
    try {
      const seed = this.settings.seed ?? freshSeed();
      for (const [lane, mode] of [[this.off, "off"], [this.on, this.#onMode]]) {
        await this.#measure(lane, content, mode, seed);
      }
      this.answers.add(this.on.answer);
      this.#replay();
    } catch (error) {
      if (error instanceof Problem) this.#fail(error);
      else if (error.name !== "AbortError") throw error;
      byId("race-state").textContent = error instanceof Problem ? "" : t("chat.stopped");
    } finally {
      this.stopper = null;
      this.#busy(false);
    }
  }

  get #onMode() {
    return this.settings.mode === "off" ? "auto" : this.settings.mode;
  }

  /** A scope of its own keeps the second run from copying the first one's answer. */
  async #measure(lane, content, mode, seed) {
    const scope = `race-${freshSeed()}-${freshSeed()}`;
    const body = this.settings.body([{ role: "user", content }], { mode, seed, scope });
    lane.start(new Answer(body));
    byId("race-state").textContent = t(`race.running.${lane.name}`);
    await lane.answer.stream(this.stopper.signal, () => {
      lane.measure();
      this.panel.watch(lane.answer);
    });
  }

  #begin() {
    this.run += 1;
    this.#busy(true);
    for (const lane of [this.off, this.on]) lane.start(new Answer({}));
    byId("race-lanes").hidden = false;
    byId("race-result").hidden = true;
    byId("race-trouble").replaceChildren();
  }

  #busy(is) {
    byId("race-stop").hidden = !is;
    byId("race-start").hidden = is;
    byId("race-lanes").setAttribute("aria-busy", String(is));
  }

  #fail(problem) {
    byId("race-trouble").replaceChildren(notice(problem, () => this.#race()));
    if (problem.key === "error.key") this.askKey(() => this.#race());
  }

  /** Both answers from the start, each by the times at which its tokens really came. */
  #replay() {
    this.run += 1;
    const { run } = this;
    for (const lane of [this.off, this.on]) lane.start(lane.answer);
    byId("race-state").textContent = t("race.replaying");
    byId("race-result").hidden = true;
    const begun = performance.now();
    const frame = (now) => {
      if (run !== this.run) return;
      const seconds = calm() ? Infinity : Math.max(0, now - begun) / 1000;
      const over = [this.off.at(seconds), this.on.at(seconds)];
      if (over.every(Boolean)) this.#verdict();
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  #verdict() {
    const [off, on] = [this.off.answer, this.on.answer];
    const ratio = pace(on) / pace(off);
    byId("race-ratio").textContent = times(ratio);
    byId("race-ratio").className = ratio < 1 ? "hero loss" : "hero";
    byId("race-state").textContent = t("race.done");
    const place = firstDifference(off.tokens, on.tokens);
    byId("race-shared").hidden = !(off.shared || on.shared);
    byId("race-same").textContent = place === null ? t("race.same") : differing(off, on, place);
    byId("race-same").className = place === null ? "good" : "long";
    if (place !== null) for (const lane of [this.off, this.on]) lane.view.mark(place);
    byId("race-result").hidden = false;
  }
}

const pace = (answer) => answer.tokens.length / answer.seconds;

/** Where two texts part, what that means, and how likely each thought its own next token. */
function differing(off, on, place) {
  const [one, other] = [off.tokens[place], on.tokens[place]].map((token) => fixed(token?.p));
  return [
    t(`race.differs.${on.body.speculation.exactness}`, { place: place + 1 }),
    t("race.odds", { one, other }),
  ].join(t("space"));
}

/** The first token in which two answers differ; null when they are the same. */
export function firstDifference(one, other) {
  const length = Math.max(one.length, other.length);
  for (let i = 0; i < length; i += 1) if (one[i]?.text !== other[i]?.text) return i;
  return null;
}
