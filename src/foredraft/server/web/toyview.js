// The toy experiment, running: whatever the draft proposes, what comes out follows p.

import { byId, calm, el } from "./dom.js";
import { fixed, percent } from "./format.js";
import { onLanguage, t } from "./i18n.js";
import { P, Tally, draftLaw, judge, overlap } from "./toy.js";

const NAMES = ["A", "B", "C", "D", "E"];
const QUICK = 12;
const SLOWLY_MS = 500;
const ENOUGH = 100_000;

export class Toy {
  constructor(random = Math.random) {
    this.random = random;
    this.timer = 0;
    this.bars = NAMES.map((name) => this.#row(name));
    byId("toy-bars").replaceChildren(...this.bars.map(({ row }) => row));
    byId("toy-run").addEventListener("click", () => (this.timer ? this.#stop() : this.#run()));
    byId("toy-one").addEventListener("click", () => { this.#stop(); this.#draw(this.#more(1)); });
    byId("toy-close").addEventListener("input", () => this.reset());
    byId("toy-rule").addEventListener("input", () => this.reset());
    byId("toy-reset").addEventListener("click", () => this.reset());
    onLanguage(() => this.#draw());
    this.reset();
  }

  get #q() {
    return draftLaw(Number(byId("toy-close").value));
  }

  #row(name) {
    const [p, q, seen] = ["toy-p", "toy-q", "toy-seen"].map((kind) => el("i", { className: kind }));
    const said = el("span", { className: "toy-said" });
    const bar = el("div", { className: "toy-bar" }, seen, p, q);
    return { row: el("li", {}, el("b", {}, name), bar, said), p, q, seen, said };
  }

  reset() {
    this.tally = new Tally();
    byId("toy-told").textContent = t("toy.start");
    this.#draw();
  }

  #run() {
    const batch = () => {
      this.#draw(this.#more(Math.min(2000, QUICK + Math.floor(this.tally.samples / 40))));
      if (this.tally.samples >= ENOUGH) this.#stop();
    };
    this.timer = setInterval(batch, calm() ? SLOWLY_MS : 50);
    byId("toy-run").textContent = t("toy.pause");
  }

  #stop() {
    clearInterval(this.timer);
    this.timer = 0;
    byId("toy-run").textContent = t("toy.run");
  }

  #more(count) {
    const [q, wrongly] = [this.#q, byId("toy-rule").value === "wrong"];
    let last;
    for (let i = 0; i < count; i += 1) this.tally.add(last = judge(P, q, this.random, wrongly));
    return last;
  }

  #draw(last = null) {
    const [q, { samples, accepted, counts }] = [this.#q, this.tally];
    this.bars.forEach((bar, i) => {
      const share = counts[i] / Math.max(1, samples);
      bar.seen.style.width = `${200 * share}%`;
      bar.p.style.left = `${200 * P[i]}%`;
      bar.q.style.left = `${200 * q[i]}%`;
      const values = { p: fixed(P[i]), q: fixed(q[i]), seen: fixed(share, 3) };
      bar.said.textContent = t("toy.row", values);
    });
    byId("toy-close-value").textContent = percent(overlap(P, q));
    byId("toy-run").textContent = t(this.timer ? "toy.pause" : "toy.run");
    byId("toy-sum").textContent = samples ? t("toy.sum", {
      samples: samples.toLocaleString("en"), rate: percent(accepted / samples),
      expected: percent(overlap(P, q)), distance: fixed(this.tally.distance(P), 4),
    }) : "";
    if (last) byId("toy-told").textContent = told(last, q);
    else if (!samples) byId("toy-told").textContent = t("toy.start");
  }
}

/** The last draw in words. */
function told({ drafted, kept, emitted }, q) {
  const values = {
    drafted: NAMES[drafted], emitted: NAMES[emitted], p: fixed(P[drafted]), q: fixed(q[drafted]),
    chance: percent(Math.min(1, P[drafted] / q[drafted])),
  };
  return t(kept ? "toy.kept" : "toy.redrawn", values);
}
