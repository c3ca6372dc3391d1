// What speculation can gain; the formulas of foredraft.core.speedup (Leviathan et al. 2211.17192).

/** Tokens per round: (1 − α^(γ+1)) / (1 − α). */
export function expectedTokens(alpha, gamma) {
  return alpha === 1 ? gamma + 1 : (1 - alpha ** (gamma + 1)) / (1 - alpha);
}

/** v(rows) in plain steps: 1 without a curve, the last slope continued beyond its end. */
export function verifyPrice(rows, curve) {
  if (!curve) return 1;
  if (rows <= curve.length) return curve[rows - 1];
  const last = curve.length - 1;
  const slope = last > 0 ? Math.max(0, curve[last] - curve[last - 1]) : 0;
  return curve[last] + slope * (rows - curve.length);
}

/** Speed over plain decoding: E[tokens] / (γ·c + v(γ + 1)). */
export function speedup(alpha, cost, gamma, curve = null) {
  return expectedTokens(alpha, gamma) / (gamma * cost + verifyPrice(gamma + 1, curve));
}

/** The same where only a share of the rounds has a draft and the others are plain steps. */
export function mixedSpeedup(alpha, cost, gamma, curve, share) {
  const tokens = share * expectedTokens(alpha, gamma) + 1 - share;
  return tokens / (share * (gamma * cost + verifyPrice(gamma + 1, curve)) + 1 - share);
}

/** The draft length that gains the most, and what it gains; 0 and 1 where none does. */
export function bestGamma(alpha, cost, curve, limit) {
  let best = { gamma: 0, gain: 1 };
  for (let gamma = 1; gamma <= limit; gamma += 1) {
    const gain = speedup(alpha, cost, gamma, curve);
    if (gain > best.gain) best = { gamma, gain };
  }
  return best;
}

/** The curve with what it has above 1 multiplied: 0 makes verification free, 1 leaves it. */
export const steeper = (curve, factor) => curve.map((price) => 1 + factor * (price - 1));
