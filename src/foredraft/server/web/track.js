// An answer as a band of rounds, each as long as the tokens it emitted.

import { hue } from "./drafters.js";
import { svg } from "./dom.js";

const HEIGHT = 10;

/** `pieces` are { start, length, drafter }; the one that holds token `at` stands out. */
export function track(pieces, total, at) {
  const rects = pieces.map(({ start, length, drafter }) => {
    const here = start <= at && at < start + length;
    return svg("rect", {
      x: start + 0.08, width: Math.max(0.2, length - 0.16),
      y: here ? 0 : 2, height: here ? HEIGHT : HEIGHT - 4,
      class: `fill ${drafter ? hue(drafter) : "own"} ${here ? "here" : ""}`,
    });
  });
  return svg("svg", {
    class: "track", viewBox: `0 0 ${Math.max(1, total)} ${HEIGHT}`, preserveAspectRatio: "none",
    "aria-hidden": "true",
  }, ...rects);
}
