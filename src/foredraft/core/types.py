"""The words every room shares: a draft, the verdict on it, and the exactness levels."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
LogitArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

Laws = Sequence[FloatArray]
"""One distribution a row, [rows][vocabulary]; may be computed lazily on indexing."""

ROOT = -1
"""The parent of a draft's first tokens: the last committed token."""


class Exactness(StrEnum):
    """How closely the output follows the target; see docs/exactness.md."""

    BITWISE = "bitwise"
    COUPLED = "coupled"
    DISTRIBUTION = "distribution"


@dataclass(frozen=True, slots=True)
class Draft:
    """Proposed tokens as a tree in which parents come before children (a chain is the usual case).

    `parents[i]` is the index of token i's parent, or ROOT. `q[i]` is the law token i was really
    drawn from, given its ancestors and its earlier siblings, [V]; `q is None` means the tokens
    were not drawn at random, that is q is one-hot. `evidence[i]` is the one number by which its
    drafter judges token i's chance (a lookup's match length, a model's probability), or absent;
    it may depend on what comes before a sampled token and on that token, never on later ones.
    """

    tokens: tuple[int, ...]
    parents: tuple[int, ...]
    q: Laws | None
    source: str
    evidence: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if len(self.tokens) != len(self.parents):
            raise ValueError("a draft needs one parent per token")
        if any(not ROOT <= parent < i for i, parent in enumerate(self.parents)):
            raise ValueError("a draft's parents must come before their children")
        if self.q is not None and len(self.q) != len(self.tokens):
            raise ValueError("a sampled draft needs one law q per token")
        if self.evidence and len(self.evidence) != len(self.tokens):
            raise ValueError("a draft's evidence needs one number per token")

    @classmethod
    def chain(
        cls,
        tokens: Sequence[int],
        q: Laws | None = None,
        source: str = "",
        evidence: Sequence[float] = (),
    ) -> "Draft":
        """A draft without branches: each token follows the one before it."""
        parents = tuple(range(ROOT, len(tokens) - 1))
        return cls(tuple(tokens), parents, q, source, tuple(evidence))

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def is_chain(self) -> bool:
        return self.parents == tuple(range(ROOT, len(self.tokens) - 1))

    def children(self) -> dict[int, list[int]]:
        """Node → its children in sibling order, the root's under ROOT."""
        found: dict[int, list[int]] = {}
        for node, parent in enumerate(self.parents):
            found.setdefault(parent, []).append(node)
        return found


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an acceptance rule decided: the accepted nodes from the root down, then one new token.

    `rejected` counts the children refused where the path ended.
    """

    path: tuple[int, ...]
    token: int
    rejected: int
