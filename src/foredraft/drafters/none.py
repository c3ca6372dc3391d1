"""No drafting: plain decoding, through the same loop as everything else."""

from foredraft.core.sequence import TextSequence
from foredraft.core.types import Draft


class NoDrafter:
    """Proposes nothing, so each round is one plain step."""

    name = "none"
    free = True
    expected: tuple[tuple[float, float], ...] = ()

    def propose(self, sequence: TextSequence, limit: int) -> Draft:
        return Draft.chain([], source=self.name)

    def close(self, sequence: TextSequence) -> None:
        pass
