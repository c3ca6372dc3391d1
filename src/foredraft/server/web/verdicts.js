// What became of each token a round drafted, and what fixed draft lengths would have made of it.

/** "accepted", "rejected" or "ignored" for each drafted token, chains and trees alike. */
export function verdicts(round) {
  const states = round.drafted.map(() => "ignored");
  let node = -1;
  for (const { id } of round.tokens.slice(0, round.accepted)) {
    node = round.drafted.findIndex((token) => token.parent === node && token.id === id);
    if (node < 0) break;
    states[node] = "accepted";
  }
  let refused = round.rejected;
  round.drafted.forEach((token, i) => {
    if (refused === 0 || token.parent !== node || states[i] === "accepted") return;
    states[i] = "rejected";
    refused -= 1;
  });
  return states;
}

/** How deep each drafted token lies below the last committed one; a chain counts 0, 1, 2 … */
export function depths(drafted) {
  const found = [];
  for (const { parent } of drafted) found.push(parent < 0 ? 0 : found[parent] + 1);
  return found;
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
