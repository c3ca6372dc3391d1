// Rounds drawn as bars: what was accepted, what the target added, what was refused.

import { hue } from "./drafters.js";
import { svg } from "./dom.js";

const LAST = 48;
const WIDTH = 6;
const GAP = 2;
const HEIGHT = 64;

/** The last rounds as columns; a token is as high in all of them. */
export function strip(rounds) {
  const shown = rounds.slice(-LAST);
  const tallest = Math.max(6, ...shown.map((round) => 1 + round.drafted.length));
  const unit = HEIGHT / tallest;
  const bars = shown.flatMap((round, i) => {
    let floor = HEIGHT;
    const bar = (count, kind) => {
      floor -= count * unit;
      return svg("rect", {
        x: i * (WIDTH + GAP), y: floor, width: WIDTH,
        height: Math.max(0, count * unit - 1), class: kind,
      });
    };
    const refused = round.drafted.length - round.accepted;
    const kind = round.accepted ? `fill ${hue(round.drafter)}` : "";
    return [bar(round.accepted, kind), bar(1, "fill own"), bar(refused, "refused")];
  });
  return svg("svg", {
    class: "strip", viewBox: `0 0 ${LAST * (WIDTH + GAP)} ${HEIGHT}`, "aria-hidden": "true",
    preserveAspectRatio: "none",
  }, ...bars);
}
