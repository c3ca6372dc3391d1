// One answer as it grows: its tokens, its rounds, and the counts of both.

import { Problem, chat } from "./api.js";

export class Answer {
  /** `body` is the request; `messages` in it are the prompt. */
  constructor(body) {
    this.body = body;
    this.tokens = [];
    this.rounds = [];
    this.usage = null;
    this.finish = null;
    this.arrivals = [];
    this.sent = null;
  }

  /** Ask for it and take in its chunks; `heard` is told of each. Resolves when it is whole. */
  async stream(signal, heard) {
    this.sent = performance.now();
    for await (const chunk of chat(this.body, signal)) {
      this.#add(chunk, performance.now());
      heard(this);
    }
    if (this.finish === null) throw new Problem("error.dropped");
  }

  #add(chunk, now) {
    this.usage = chunk.usage ?? this.usage;
    const choice = chunk.choices[0];
    if (!choice) return;
    this.finish = choice.finish_reason ?? this.finish;
    const { tokens = [], round = null } = choice.speculation ?? {};
    const text = choice.delta?.content;
    const fresh = tokens.length || !text ? tokens : [{ text, from_draft: false }];
    if (round) this.rounds.push({ ...round, start: this.tokens.length, tokens: [] });
    for (const token of fresh) {
      this.rounds.at(-1)?.tokens.push(token);
      this.tokens.push({ ...token, round: this.rounds.length - 1 });
      this.arrivals.push(now);
    }
  }

  get text() {
    return this.tokens.map((token) => token.text).join("");
  }

  get ids() {
    return this.tokens.map((token) => token.id).filter((id) => id !== undefined);
  }

  #sum(name) {
    return this.rounds.reduce((sum, round) => sum + (round[name] ?? 0), 0);
  }

  /** α so far: accepted / (accepted + rejected); null when nothing was judged. */
  get alpha() {
    const accepted = this.#sum("accepted");
    const judged = accepted + this.#sum("rejected");
    return judged ? accepted / judged : null;
  }

  get tokensPerPass() {
    return this.rounds.length ? this.tokens.length / this.rounds.length : null;
  }

  /** Tokens drafted in a round that had a draft, on average. */
  get meanDraft() {
    const lengths = this.rounds.map((round) => round.drafted.length).filter(Boolean);
    return lengths.length ? lengths.reduce((a, b) => a + b) / lengths.length : null;
  }

  /** Whether others were verified in the same passes, which makes its times theirs too. */
  get shared() {
    return this.rounds.some((round) => round.sequences > 1);
  }

  /** The share of rounds that had a draft. */
  get draftShare() {
    return this.rounds.filter((round) => round.drafted.length).length / this.rounds.length;
  }

  /** Everyone who drafted, lookups that drafted together as one. */
  get drafters() {
    return this.rounds.filter((round) => round.drafted.length).map((round) => round.drafter);
  }

  /** Who drafted the most tokens; null when nobody did. */
  get mainDrafter() {
    const counts = new Map();
    for (const { drafter, drafted } of this.rounds) {
      if (drafted.length) counts.set(drafter, (counts.get(drafter) ?? 0) + drafted.length);
    }
    return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
  }

  /** Tokens per second of decoding: the server's own figure, or until then that of its rounds. */
  get speed() {
    const seconds = this.#sum("draft_s") + this.#sum("verify_s");
    return this.usage?.speculation?.tokens_per_s ?? (seconds ? this.tokens.length / seconds : null);
  }

  /** Over plain decoding at `plain_step_s` a token; the server's own figure once it is there. */
  speedup(plainStep) {
    const soFar = plainStep && this.speed ? this.speed * plainStep : null;
    return this.usage?.speculation?.speedup ?? soFar;
  }

  /** Milliseconds from which decoding counts: after queueing and reading the prompt. */
  get begun() {
    const told = this.usage?.speculation;
    if (!told) return this.arrivals[0] ?? this.sent;
    return this.sent + 1000 * (told.queue_s + told.prefill_s);
  }

  /** Seconds of decoding, as seen here. */
  get seconds() {
    return Math.max(0, (this.arrivals.at(-1) ?? this.begun) - this.begun) / 1000;
  }
}
