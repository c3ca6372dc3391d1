// The step view: a finished answer, round by round.

import { Problem, replay } from "./api.js";
import { byId, el } from "./dom.js";
import { hue } from "./drafters.js";
import { ms, times, visible } from "./format.js";
import { onLanguage, said, t } from "./i18n.js";
import { track } from "./track.js";
import { places, verdicts } from "./verdicts.js";

const EVERY_MS = 700;
const CONTEXT = 360;

export class Steps {
  constructor({ answers }) {
    this.answers = answers;
    this.answer = null;
    this.other = null;
    this.problem = null;
    this.turn = 0;
    this.playing = 0;
    const on = (id, event, act) => byId(id).addEventListener(event, act);
    on("step-answer", "change", ({ target }) => this.#open(Number(target.value)));
    on("step-round", "input", () => { this.#pause(); this.draw(); });
    on("step-back", "click", () => { this.#pause(); this.#move(-1); });
    on("step-on", "click", () => { this.#pause(); this.#move(1); });
    on("step-play", "click", () => (this.playing ? this.#pause() : this.#play()));
    on("what-mode", "change", () => this.#ask());
    on("what-length", "change", () => this.#ask());
    answers.onShow((answer) => { this.#list(); this.#open(answers.all.indexOf(answer)); });
    onLanguage(() => { this.#list(); this.draw(); });
    this.#list();
  }

  /** The view is seen now; only then is the server asked for another draft length. */
  seen() {
    if (this.answer && !this.other) this.#ask();
  }

  get #round() {
    return Number(byId("step-round").value) - 1;
  }

  #list() {
    const { all } = this.answers;
    byId("step-empty").hidden = all.length > 0;
    byId("step-body").hidden = all.length === 0;
    byId("step-answer").replaceChildren(...all.map((answer, i) => {
      const text = answer.body.messages.at(-1).content.slice(0, 40);
      const option = t("step.option", { number: i + 1, text });
      return el("option", { value: i, selected: answer === this.answer }, option);
    }));
  }

  #open(index) {
    this.#pause();
    this.answer = this.answers.all[index];
    byId("step-answer").value = index;
    byId("step-round").max = this.answer.rounds.length;
    byId("step-round").value = 1;
    this.other = null;
    this.draw();
    if (!byId("step").hidden) this.#ask();
  }

  #move(by) {
    byId("step-round").value = this.#round + 1 + by;
    this.draw();
  }

  #play() {
    if (this.#round === this.answer.rounds.length - 1) byId("step-round").value = 1;
    this.playing = setInterval(() => {
      this.#move(1);
      if (this.#round === this.answer.rounds.length - 1) this.#pause();
    }, EVERY_MS);
    this.draw();
  }

  #pause() {
    clearInterval(this.playing);
    this.playing = 0;
    byId("step-play").textContent = t("step.play");
  }

  draw() {
    if (!this.answer) return;
    const { answer } = this;
    const round = answer.rounds[this.#round];
    const values = { round: this.#round + 1, rounds: answer.rounds.length };
    byId("step-play").textContent = t(this.playing ? "step.pause" : "step.play");
    byId("step-at").textContent = t("step.at", values);
    byId("step-round").setAttribute("aria-valuetext", t("step.at", values));
    const before = answer.tokens.slice(0, round.start).map((token) => token.text).join("");
    byId("step-before").textContent = (before.length > CONTEXT ? "…" : "") + before.slice(-CONTEXT);
    byId("step-emitted").textContent = round.tokens.map((token) => token.text).join("");
    byId("step-draft").replaceChildren(...this.#chips(round));
    byId("step-facts").textContent = this.#facts(round);
    this.#tracks(round);
  }

  /** The draft's tokens, with a new row for each branch of a tree, and the target's own. */
  #chips(round) {
    const { drafted } = round;
    const { states, last } = verdicts(round);
    const branch = (parent) => el("li", { className: "branch" }, parent < 0
      ? t("step.branch.root") : t("step.branch", { token: visible(drafted[parent].text) }));
    const chips = drafted.flatMap((token, i) => [
      token.parent === i - 1 ? null : branch(token.parent),
      this.#chip(token.text, states[i], hue(round.drafter)),
    ]);
    const own = round.tokens.at(-1);
    if (own && !own.from_draft) {
      const tree = drafted.some((token, i) => token.parent !== i - 1);
      chips.push(tree ? branch(last) : null, this.#chip(own.text, ownState(round), "own"));
    }
    return chips.filter(Boolean);
  }

  #chip(text, state, kind) {
    return el("li", { className: `chip ${state} ${kind}` },
      el("code", {}, visible(text)), el("span", {}, t(`step.${state}`)));
  }

  #facts(round) {
    const took = { draft: ms(round.draft_s), verify: ms(round.verify_s) };
    const counts = { ...round, drafted: round.drafted.length, emitted: round.tokens.length };
    const facts = [counts.drafted ? t("step.counts", counts) : t("step.plain")];
    facts.push(t("step.took", took));
    if (round.why) facts.push(t("step.why", { why: said(round.why) }));
    return facts.join(t("space"));
  }

  #tracks(round) {
    const total = this.answer.tokens.length;
    const ran = this.answer.rounds.map((one) => ({
      start: one.start, length: one.tokens.length, drafter: one.drafted.length ? one.drafter : null,
    }));
    byId("step-track").replaceChildren(track(ran, total, round.start));
    const drafter = byId("what-mode").value;
    const made = (this.other?.places ?? []).map(
      (place) => ({ ...place, drafter: place.drafted ? drafter : null }));
    byId("what-track").replaceChildren(track(made, total, round.start));
    byId("what-result").textContent = this.#whatIf(round.start);
  }

  #whatIf(start) {
    if (this.problem) return t(this.problem.key, this.problem.values);
    if (!this.other) return t("what.asking");
    const { places: made, target_passes: passes, speedup, length } = this.other;
    const here = made.findLast((place) => place.start <= start);
    const all = t("what.all", {
      length, passes, ran: this.answer.rounds.length, speedup: times(speedup),
      measured: times(this.answer.speedup(null)),
    });
    if (!here) return all;
    return [all, t(here.drafted ? "what.here" : "what.here.plain", here)].join(t("space"));
  }

  /** What a fixed draft length would have done with the same text. */
  async #ask() {
    const { answer } = this;
    const length = Math.min(16, Math.max(1, Number(byId("what-length").value) || 2));
    const body = {
      prompt: answer.body.messages, tokens: answer.ids,
      mode: byId("what-mode").value, draft_len: length,
    };
    this.other = null;
    this.problem = null;
    this.turn += 1;
    const { turn } = this;
    try {
      const found = await replay(body);
      if (turn !== this.turn) return;
      this.other = { ...found, length, places: places(found.passes, answer.tokens.length) };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (turn !== this.turn) return;
      this.problem = error;
    }
    this.draw();
  }
}

/** Why the target chose a round's last token itself. */
function ownState(round) {
  if (round.rejected > 0) return "redrawn";
  return round.drafted.length ? "bonus" : "undrafted";
}
