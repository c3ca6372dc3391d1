"""A head's own, smaller vocabulary within its target's."""

from dataclasses import dataclass

import numpy as np
import torch

from foredraft.core.errors import ForedraftError
from foredraft.core.types import IntArray, LogitArray


@dataclass(frozen=True, slots=True)
class DraftVocabulary:
    """`ids[row]` is the target's token of the head's row; None where the rows are the same."""

    size: int
    ids: IntArray | None = None

    @classmethod
    def of(cls, size: int, offsets: torch.Tensor | None) -> "DraftVocabulary":
        """From a checkpoint's `d2t`, which holds offsets: token − row."""
        if offsets is None:
            return cls(size)
        ids = offsets.to(torch.int64).cpu().numpy() + np.arange(len(offsets))
        if ids.min() < 0 or ids.max() >= size:
            wrong = ids.max() if ids.max() >= size else ids.min()
            raise ForedraftError(
                f"The head's vocabulary map d2t names token {wrong:,}, and its target's tokens end "
                f"at {size - 1:,}; the head belongs to another target, or its file is damaged."
            )
        if len(np.unique(ids)) < len(ids):
            raise ForedraftError(
                "The head's vocabulary map d2t gives two rows the same token; its file is damaged, "
                "download it again."
            )
        return cls(size, ids)

    def spread(self, logits: torch.Tensor) -> LogitArray:
        """[n, rows of the head] → [n, tokens of the target], −inf where it has no row; rows beyond
        the target's are padding."""
        own: LogitArray = logits.to(torch.float32).cpu().numpy()
        if self.ids is None and own.shape[1] >= self.size:
            return own[:, : self.size]
        spread = np.full((len(own), self.size), -np.inf, dtype=np.float32)
        spread[:, np.arange(own.shape[1]) if self.ids is None else self.ids] = own
        return spread

    def unknown(self) -> LogitArray:
        """The logits of a head that has read nothing: any of its tokens alike."""
        rows = self.size if self.ids is None else len(self.ids)
        logits: LogitArray = self.spread(torch.zeros(1, rows))[0]
        return logits
