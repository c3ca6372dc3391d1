"""What the lookups would draft of texts that a model really wrote: no timing, so any machine does.

Each prompt is answered once; every method then drafts that text round by round. Two tables: tokens
a target pass (and drafted tokens a pass) for each draft length, and how often a token of given
evidence was right, which is what the drafters' `expected` should say.

    python benchmarks/lookup.py [--model NAME] [--tokens N] [--temperature T] [--wide]
"""

import argparse
from bisect import bisect
from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from foredraft import Request, SamplingParams, load
from foredraft.core.noise import Noise
from foredraft.core.sequence import TextSequence
from foredraft.core.tree import followed
from foredraft.drafters.base import Drafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.drafters.suffix import SuffixDrafter
from prompts import choose
from report import publish

METHODS: dict[str, Callable[[], Drafter]] = {
    "ngram": NgramDrafter,
    "ngram, from one token": lambda: NgramDrafter(1, 5),
    "suffix": SuffixDrafter,
    "suffix, all of it": lambda: SuffixDrafter(least=0),
    "suffix tree": lambda: SuffixDrafter(branching=True),
    "suffix tree, all of it": lambda: SuffixDrafter(branching=True, least=0),
}
LENGTHS = (3, 5, 8, 16)
JUDGED = {
    "ngram, from one token": (1, 2, 3, 4, 6, 10, 16, 24, 32),
    "suffix tree, all of it": (0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.97),
}
"""Where the evidence of a method is cut into parts."""

Text = tuple[list[int], list[int]]
"""(prompt, answer)."""


def written(model: str, tokens: int, temperature: float, wide: bool) -> list[Text]:
    """The model's answers."""
    generator = load(model, drafter="ngram")
    request = Request(SamplingParams(temperature=temperature), tokens, seed=0)
    texts = []
    for prompt in track(choose(wide=wide), f"{model} writes", console=Console(stderr=True)):
        ids = generator.target.tokenizer.chat(prompt["messages"])
        answer = generator.generate(ids, request)
        texts.append((ids, [token.id for token in answer.tokens]))
    return texts


class Count:
    """Passes, drafted tokens, and (evidence, right) of each token that was judged."""

    def __init__(self, make: Callable[[], Drafter], length: int, texts: Sequence[Text]) -> None:
        self.tokens = self.passes = self.drafted = 0
        self.judged: list[tuple[float, bool]] = []
        for prompt, answer in texts:
            self._follow(make(), length, prompt, answer)

    def _follow(self, drafter: Drafter, length: int, prompt: list[int], answer: list[int]) -> None:
        sequence, done = TextSequence(prompt, SamplingParams(), Noise(0, True)), 0
        while done < len(answer):
            draft = drafter.propose(sequence, min(length, len(answer) - done - 1))
            judged = followed(draft, answer[done:])
            self.judged += [(draft.evidence[node], taken) for node, taken in judged]
            self.passes += 1
            self.drafted += len(draft)
            step = 1 + sum(taken for _, taken in judged)
            sequence.tokens += answer[done : done + step]
            done += step
        self.tokens += len(answer)

    def row(self) -> dict[str, float]:
        return {
            "tokens_per_pass": round(self.tokens / self.passes, 3),
            "drafted_per_pass": round(self.drafted / self.passes, 3),
        }

    def by_evidence(self, cuts: Sequence[float]) -> list[dict[str, Any]]:
        """How many tokens of each part were judged, and the share of them that was right."""
        parts: list[list[bool]] = [[] for _ in cuts]
        for evidence, taken in self.judged:
            parts[bisect(cuts, evidence) - 1].append(taken)
        return [
            {"from": cut, "judged": len(part), "right": round(sum(part) / max(1, len(part)), 3)}
            for cut, part in zip(cuts, parts, strict=True)
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--wide", action="store_true", help="the wider set of prompts")
    parser.add_argument("--name", default="lookup", help="the result's file in results/")
    chosen = parser.parse_args()
    texts = written(chosen.model, chosen.tokens, chosen.temperature, chosen.wide)
    counts = {m: {n: Count(make, n, texts) for n in LENGTHS} for m, make in METHODS.items()}
    table = Table("tokens a pass (drafted)", *(f"γ = {length}" for length in LENGTHS))
    for method, of in counts.items():
        cells = [c.row() for c in of.values()]
        table.add_row(
            method, *(f"{c['tokens_per_pass']:.2f} ({c['drafted_per_pass']:.1f})" for c in cells)
        )
    Console().print(table)
    result: dict[str, Any] = vars(chosen) | {"texts": len(texts)}
    result["tokens_written"] = sum(len(answer) for _, answer in texts)
    result["methods"] = {m: {n: c.row() for n, c in of.items()} for m, of in counts.items()}
    result["by_evidence"] = {m: counts[m][8].by_evidence(cuts) for m, cuts in JUDGED.items()}
    publish(chosen.name, result)


if __name__ == "__main__":
    main()
