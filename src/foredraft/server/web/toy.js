// The toy experiment: one drafted token, judged by the rejection rule, as in foredraft.core.toy.

export const P = [0.4, 0.25, 0.15, 0.12, 0.08];
const FAR = [0.03, 0.12, 0.2, 0.3, 0.35];

/** A draft law between one far from p (0) and p itself (1). */
export const draftLaw = (closeness) => P.map((p, i) => closeness * p + (1 - closeness) * FAR[i]);

export const overlap = (p, q) => p.reduce((sum, value, i) => sum + Math.min(value, q[i]), 0);

function draw(weights, random) {
  let left = random() * weights.reduce((sum, weight) => sum + weight, 0);
  for (let i = 0; i < weights.length - 1; i += 1) {
    left -= weights[i];
    if (left < 0) return i;
  }
  return weights.length - 1;
}

/** Draft from q, keep with chance min(1, p/q), else redraw: from the rest, or wrongly from p. */
export function judge(p, q, random, wrongly = false) {
  const drafted = draw(q, random);
  if (random() * q[drafted] < p[drafted]) return { drafted, kept: true, emitted: drafted };
  const residual = p.map((value, i) => Math.max(0, value - q[i]));
  return { drafted, kept: false, emitted: draw(wrongly ? p : residual, random) };
}

/** Counts of an experiment so far. */
export class Tally {
  constructor() {
    this.samples = 0;
    this.accepted = 0;
    this.counts = P.map(() => 0);
  }

  add({ kept, emitted }) {
    this.samples += 1;
    this.accepted += kept;
    this.counts[emitted] += 1;
  }

  /** Total variation between what was emitted and p: 0 means the same. */
  distance(p) {
    const share = (i) => this.counts[i] / Math.max(1, this.samples);
    return p.reduce((sum, value, i) => sum + Math.abs(value - share(i)), 0) / 2;
  }
}
