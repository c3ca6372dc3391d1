// The why view: what α, γ, c and the price of verifying make of speculation.

import { byId, el, svg, table } from "./dom.js";
import { fixed, percent, times } from "./format.js";
import { onLanguage, t } from "./i18n.js";
import {
  bestGamma, expectedTokens, mixedSpeedup, speedup, steeper, verifyPrice,
} from "./speedup.js";
import { MOST, Surface } from "./surface.js";
import { onTheme } from "./theme.js";

const SLIDERS = ["alpha", "gamma", "cost", "steep"];
const DIGITS = { alpha: 2, gamma: 0, cost: 2, steep: 1 };

const slider = (name) => byId(`why-${name}`);
const value = (name) => Number(slider(name).value);

export class Why {
  constructor({ feed, answers }) {
    this.feed = feed;
    this.answers = answers;
    this.curve = [1];
    this.costs = {};
    this.surface = new Surface(byId("surface"));
    for (const name of SLIDERS) slider(name).addEventListener("input", () => this.draw());
    byId("why-mine").addEventListener("click", () => this.#mine());
    byId("why-drafter").addEventListener("change", () => this.draw());
    byId("surface").addEventListener("pointerdown", (event) => this.#pick(event));
    feed.onChange(() => this.#learn());
    answers.onShow((answer) => {
      if (answer.mainDrafter in this.costs) byId("why-drafter").value = answer.mainDrafter;
      this.draw();
    });
    onLanguage(() => this.draw());
    onTheme(() => this.draw());
    new ResizeObserver(() => this.draw()).observe(byId("surface"));
  }

  /** This machine's α, γ and c: of the last answer, or of the last minute; null if unknown. */
  get machine() {
    const recent = this.feed.value?.recent;
    const last = this.answers.all.findLast((answer) => answer.alpha !== null);
    const alpha = last?.alpha ?? recent?.acceptance_rate ?? null;
    const cost = this.costs[byId("why-drafter").value] ?? 0;
    if (alpha === null) return null;
    const share = last?.draftShare ?? 1;
    const gamma = last?.meanDraft ?? bestGamma(alpha, cost, this.curve, MOST).gamma;
    const measured = last?.speedup(null) ?? recent?.speedup;
    return { alpha, gamma, cost, share, measured };
  }

  #learn() {
    const told = this.feed.value;
    if (!told) return;
    // The server forgets after a minute; what was measured once is still what there is.
    for (const [name, cost] of Object.entries(told.cost_ratio ?? {})) {
      if (!(name in this.costs)) byId("why-drafter").append(el("option", { value: name }, name));
      this.costs[name] = cost;
    }
    this.curve = told.verify_curve?.length ? told.verify_curve : [1];
    this.draw();
  }

  #mine() {
    const { machine } = this;
    if (!machine) return;
    slider("alpha").value = machine.alpha;
    slider("gamma").value = Math.round(machine.gamma);
    slider("cost").value = machine.cost;
    slider("steep").value = 1;
    this.draw();
  }

  #pick(event) {
    const { alpha, gamma } = this.surface.at(event.offsetX, event.offsetY);
    slider("alpha").value = alpha;
    slider("gamma").value = gamma;
    this.draw();
  }

  draw() {
    for (const name of SLIDERS) {
      byId(`why-${name}-value`).textContent = fixed(value(name), DIGITS[name]);
    }
    // A hidden canvas has no size; it is drawn when it is shown.
    if (byId("surface").clientWidth === 0) return;
    const [alpha, gamma, cost] = ["alpha", "gamma", "cost"].map(value);
    const curve = steeper(this.curve, value("steep"));
    const gain = speedup(alpha, cost, gamma, curve);
    const best = bestGamma(alpha, cost, curve, MOST);
    const { machine } = this;
    const onSurface = machine && { ...machine, gamma: Math.min(MOST, machine.gamma) };
    this.surface.paint({ cost, curve, point: { alpha, gamma }, machine: onSurface });
    byId("why-gain").textContent = times(gain);
    byId("why-gain").className = gain < 1 ? "hero loss" : "hero";
    const bestText = best.gamma
      ? t("why.best", { gamma: best.gamma, gain: times(best.gain) }) : t("why.never");
    byId("why-best").textContent = bestText;
    byId("why-terms").textContent = t("why.terms", {
      tokens: fixed(expectedTokens(alpha, gamma)), draft: fixed(gamma * cost),
      verify: fixed(verifyPrice(gamma + 1, curve)),
    });
    byId("surface").setAttribute("aria-label", t("why.surface", {
      alpha: fixed(alpha), gamma, cost: fixed(cost), gain: times(gain), best: bestText,
    }));
    this.#told(machine);
    byId("why-curve").replaceChildren(curveLine(curve, gamma + 1));
    byId("why-table").replaceChildren(this.#table(alpha, cost, curve, best.gamma));
  }

  #told(machine) {
    byId("why-mine").disabled = !machine;
    byId("why-machine").textContent = machine ? t("why.machine", {
      alpha: fixed(machine.alpha), gamma: fixed(machine.gamma, 1), cost: fixed(machine.cost, 3),
      share: percent(machine.share),
      predicted: times(mixedSpeedup(
        machine.alpha, machine.cost, Math.round(machine.gamma), this.curve, machine.share)),
      measured: times(machine.measured),
    }) : t("why.unmeasured");
    byId("why-flat").hidden = this.curve.length > 1;
  }

  #table(alpha, cost, curve, best) {
    const rows = Array.from({ length: MOST + 1 }, (_, gamma) => ({
      cells: [
        String(gamma), fixed(expectedTokens(alpha, gamma)), fixed(verifyPrice(gamma + 1, curve)),
        times(speedup(alpha, cost, gamma, curve)),
      ],
      best: gamma === best,
    }));
    const heads = ["γ", "E", "v(γ + 1)", t("why.speedup")];
    return table(t("why.caption", { alpha: fixed(alpha), cost: fixed(cost) }), heads, rows);
  }
}

/** v(n) as a small line, with a dot at the rows of the draft length chosen. */
function curveLine(curve, rows) {
  const prices = Array.from({ length: MOST + 1 }, (_, i) => verifyPrice(i + 1, curve));
  const top = Math.max(2, ...prices);
  const x = (n) => 4 + (192 * (n - 1)) / MOST;
  const y = (price) => 46 - (42 * (price - 1)) / (top - 1);
  const points = prices.map((price, i) => `${x(i + 1)},${y(price)}`).join(" ");
  const box = { class: "curve", viewBox: "0 0 200 50", preserveAspectRatio: "xMinYMid" };
  return svg("svg", { ...box, "aria-hidden": "true" },
    svg("line", { class: "grid", x1: 4, x2: 196, y1: 46, y2: 46 }),
    svg("polyline", { class: "line", points }),
    svg("circle", { class: "dot", cx: x(rows), cy: y(prices[rows - 1]), r: 4 }));
}
