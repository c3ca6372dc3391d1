// What became of each token a round drafted, and what fixed draft lengths would have made of it.

/**
 * What became of each drafted token, chains and trees alike: "accepted", "rejected" or "ignored";
 * and the index of the last accepted one, -1 if none was.
 */
export function verdicts(round) {
  const states = round.drafted.map(() => "ignored");
  let last = -1;
  for (const { id } of round.tokens.slice(0, round.accepted)) {
    last = round.drafted.findIndex((token) => token.parent === last && token.id === id);
    states[last] = "accepted";
  }
  let refused = round.rejected;
  round.drafted.forEach((token, i) => {
    if (refused === 0 || token.parent !== last || states[i] === "accepted") return;
    states[i] = "rejected";
    refused -= 1;
  });
  return { states, last };
}

/** Passes of a replay as { start, length, drafted, kept }, cut where the answer ends. */
export function places(passes, tokens) {
  let start = 0;
  return passes.map((pass) => {
    const length = Math.min(pass.kept + 1, tokens - start);
    const place = { ...pass, start, length };
    start += length;
    return place;
  });
}
