"""Facts of a GGUF file, from its header alone, wherever it lies."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

from foredraft.core.errors import ForedraftError
from foredraft.heads.kind import has_mtp
from foredraft.planner.facts.cache_gguf import Numbers, layers
from foredraft.planner.facts.heads import head_of_gguf
from foredraft.planner.facts.model import Format, ModelFacts
from foredraft.planner.facts.vocab_gguf import vocabulary
from foredraft.targets.gguf_config import ARCHITECTURES
from foredraft.targets.gguf_header import GGUFHeader, check_magic, damaged, read_header

_MOST = 1 << 28
"""Ten times the largest header there is: a damaged file is not read to its end."""


class Stream(NamedTuple):
    """A file read from its start, `step` bytes first and as many as before each time after that.

    Its size may only be known after the first read, if at all.
    """

    read: Callable[[int], bytes]
    size: Callable[[], int | None]
    step: int


Opener = Callable[[str], AbstractContextManager[Stream]]
"""Where a file lies → the file."""


def facts(name: str, where: str, opened: Opener) -> ModelFacts:
    """The facts of the model at `where`, called `name`; of all its pieces if it is split."""
    header = _header(where, opened)
    whole = [header, *(_header(piece, opened) for piece in _further(where, header.pieces))]
    tensors = {tensor: size for part in whole for tensor, size in part.tensors.items()}
    header = GGUFHeader(header.fields, tensors)
    arch = header.architecture
    if "bert" in arch or arch in ("clip", "t5encoder", "gemma-embedding", "wavtokenizer-dec"):
        raise ForedraftError(
            f"{name} is of architecture {arch!r}, which does not continue text; name a causal "
            "language model."
        )
    numbers, known = Numbers(header), vocabulary(header)
    embedding = tensors.get("token_embd.weight")
    rows = embedding.shape[0] if embedding else len(known.tokens) if known else None
    width = numbers.one("target_hidden_size") or numbers.one("embedding_length")
    head = head_of_gguf(header)
    return ModelFacts(
        name=name,
        where=where,
        format=Format.GGUF,
        architecture=arch,
        known=arch in ARCHITECTURES,
        vocab_size=rows,
        hidden_size=width or None,
        context=numbers.one("context_length") or None,
        weights=sum(tensor.size for tensor in tensors.values()),
        layers=layers(header),
        vocabulary=known,
        head=head,
        has_mtp=head is None and has_mtp(tensors),
    )


def _header(where: str, opened: Opener) -> GGUFHeader:
    """The header, from as little of the file as holds it."""
    data = bytearray()
    with opened(where) as file:
        while len(data) < _MOST:
            more = file.read(max(file.step, len(data)))
            data += more
            check_magic(data, where)
            if header := read_header(data, where):
                if (size := file.size()) is not None:
                    header.check_size(where, size)
                return header
            if not more:
                break
    raise damaged(where)


def _further(where: str, pieces: int) -> list[str]:
    """The names of a split model's other pieces."""
    first = f"-00001-of-{pieces:05}"
    if pieces > 1 and first not in where:
        raise ForedraftError(
            f"{where} is one of {pieces} pieces of a model; name the first one, which ends in "
            f"{first}.gguf."
        )
    return [re.sub(first, f"-{n:05}-of-{pieces:05}", where) for n in range(2, pieces + 1)]
