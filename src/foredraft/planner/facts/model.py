"""What can be known of a model without reading its weights."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from foredraft.heads.kind import HeadKind
from foredraft.planner.facts.cache import LayerCache
from foredraft.targets.pieces import Pieces

ROLES = ("bos", "eos", "eot", "pad", "unk")


class Format(StrEnum):
    """How a model's files are laid out."""

    GGUF = "GGUF"
    TRANSFORMERS = "Transformers"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A tokenizer as data.

    `kind` is llama.cpp's name for the family (gpt2 is byte-level BPE, llama SentencePiece).
    `tokens` are the entries as they are spelled, `pieces` the bytes they stand for, both by id and
    None for holes. `roles` maps those of ROLES that are filled to ids; `merges` is None where the
    file has none; `template` is the chat template.
    """

    kind: str
    tokens: tuple[str | None, ...]
    pieces: Pieces
    merges: tuple[str, ...] | None
    roles: Mapping[str, int]
    add_bos: bool
    add_eos: bool
    template: str | None

    @property
    def count(self) -> int:
        """Entries that text can be made of."""
        return sum(piece is not None for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A model as its files describe it; None is what they do not say.

    `name` is what it was asked by and `where` the file, folder, URL or repository that this means.
    `vocab_size` is the rows of the output matrix, padding included. `architecture` is the
    Transformers model type or the GGUF architecture. `known` is whether foredraft's PyTorch engine
    can build it. For a head, `hidden_size` and `vocab_size` are those of its target, which
    `made_for` may name, and `refused` is why foredraft would not load it. `has_mtp` is a whole
    model that carries MTP heads of its own.
    """

    name: str
    where: str
    format: Format
    architecture: str
    known: bool
    vocab_size: int | None
    hidden_size: int | None
    context: int | None
    weights: int | None
    layers: tuple[LayerCache, ...]
    vocabulary: Vocabulary | None
    head: HeadKind | None = None
    made_for: str | None = None
    refused: str | None = None
    has_mtp: bool = False

    @property
    def keeps_state(self) -> bool:
        """Whether some layer keeps more than keys and values, which llama.cpp must checkpoint."""
        return any(layer.state or layer.recurrent for layer in self.layers)

    @property
    def is_recurrent(self) -> bool:
        """Whether some layer's state cannot be cut back, only restored."""
        return any(layer.recurrent for layer in self.layers)

    def kv(self, context: int) -> int:
        """Bytes of keys, values and states at `context` tokens."""
        return sum(layer.size(context) for layer in self.layers)
