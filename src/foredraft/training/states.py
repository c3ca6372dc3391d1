"""Texts of the target with the hidden states it had on them, kept on disk in bounded space."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any, Self

import torch

from foredraft.core.errors import ForedraftError
from foredraft.core.files import write_whole

_HELD_OUT = 24
"""One prompt in so many is kept for validation."""
_MANIFEST = "manifest.json"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Example:
    """A prompt and its answer as the target's tokens [n], and what it held at each of them.

    `hidden` is float16 [n, (taps + 1) · H]: the states at the taps side by side, and last those
    after the target's last norm, from which its output matrix makes p of the next token. The
    answer begins at token `answer_from`; what comes before is read and not learnt.
    """

    tokens: torch.Tensor
    answer_from: int
    hidden: torch.Tensor

    @property
    def held_out(self) -> bool:
        """Whether it is for validation; all answers to one prompt are on the same side."""
        return _held_out(self.tokens[: self.answer_from].tolist())


def prompt_key(prompt: Sequence[int]) -> str:
    """A short name for a prompt, the same in every session."""
    return hashlib.sha256(repr(list(prompt)).encode()).hexdigest()[:16]


def _held_out(prompt: Sequence[int]) -> bool:
    return int(prompt_key(prompt)[:8], 16) % _HELD_OUT == 0


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a folder of states belongs to: which weights, and the taps (see Head.taps)."""

    target: str
    weights: str
    taps: tuple[int, ...]
    hidden_size: int
    vocab_size: int
    seed: int

    @classmethod
    def of(cls, target: Any, taps: Sequence[int], seed: int) -> Self:
        """That of a TorchTarget; ForedraftError for taps that it has not."""
        config = target.model.config.get_text_config(decoder=True)
        layers = config.num_hidden_layers
        if list(taps) != sorted(set(taps)) or not set(taps) <= set(range(layers)):
            raise ForedraftError(
                f"The taps {', '.join(map(str, taps))} do not fit {target.name}; name layers "
                f"between 0 and {layers - 1}, each once, the lowest first."
            )
        hidden = config.hidden_size
        weights = f"{config.model_type} {layers}x{hidden} {_fingerprint(target.model)}"
        return cls(target.name, weights, tuple(taps), hidden, target.vocab_size, seed)

    @property
    def bytes_a_token(self) -> int:
        return 2 * (len(self.taps) + 1) * self.hidden_size


def _fingerprint(model: Any) -> str:
    """Tells a model from another of the same shape, whatever name and number format it has."""
    rows = model.get_input_embeddings().weight[:: model.config.vocab_size // 16 or 1]
    numbers = rows.detach().to(torch.bfloat16).float().cpu().numpy()
    return hashlib.sha256(numbers.tobytes()).hexdigest()[:12]


class States:
    """A folder of examples in shards, each written whole or not at all."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder, self.manifest = folder, manifest
        self.shards = sorted(folder.glob("*.safetensors"))
        told = [_told(shard) for shard in self.shards]
        self.answer_tokens = sum(one["answer_tokens"] for one in told)
        self.size = sum(shard.stat().st_size for shard in self.shards)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The states in a folder; ForedraftError where there are none."""
        try:
            told = json.loads((folder / _MANIFEST).read_text())
            if told.pop("version") != _VERSION:
                raise ValueError("another version")
            return cls(folder, Manifest(**told | {"taps": tuple(told["taps"])}))
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise ForedraftError(
                f"{folder} holds no hidden states of this version; name a folder that `foredraft "
                "train` made, or another --out."
            ) from error

    @classmethod
    def make(cls, folder: Path, manifest: Manifest) -> Self:
        """The states of `manifest` in a folder, those that are there already among them.

        ForedraftError if what is there belongs to another target, other taps or another seed.
        """
        if (folder / _MANIFEST).exists():
            found = cls.open(folder)
            if what := _difference(found.manifest, manifest):
                raise ForedraftError(
                    f"{folder} holds hidden states of {what}; name another --out, or delete it."
                )
            return found
        folder.mkdir(parents=True, exist_ok=True)
        told = {"version": _VERSION, **asdict(manifest)}
        write_whole(folder / _MANIFEST, json.dumps(told, indent=1) + "\n")
        return cls(folder, manifest)

    def add(self, examples: Sequence[Example]) -> None:
        """Write one more shard."""
        from safetensors.torch import save

        answers = sum(len(one.tokens) - one.answer_from for one in examples)
        content = save(
            {
                "tokens": torch.cat([one.tokens for one in examples]).to(torch.int32),
                "hidden": torch.cat([one.hidden for one in examples]),
                "lengths": torch.tensor([len(one.tokens) for one in examples]),
                "answer_from": torch.tensor([one.answer_from for one in examples]),
            },
            {"answer_tokens": str(answers)},
        )
        number = int(self.shards[-1].stem) + 1 if self.shards else 0
        path = self.folder / f"{number:06}.safetensors"
        try:
            write_whole(path, content)
        except OSError as error:
            raise ForedraftError(
                f"{path} cannot be written ({error.strerror}); make room or choose another --out."
            ) from error
        self.shards.append(path)
        self.answer_tokens += answers
        self.size += len(content)

    def examples(self, held_out: bool = False, seed: int | None = None) -> Iterator[Example]:
        """Those to learn from, or those for validation; with a seed, in an order of its own.

        One shard is in memory at a time, so the order is shuffled by shard and within each.
        """
        chance = Random(seed)
        shards = list(self.shards)
        if seed is not None:
            chance.shuffle(shards)
        for shard in shards:
            found = [one for one in _read(shard) if one.held_out == held_out]
            if seed is not None:
                chance.shuffle(found)
            yield from found

    def taught_tokens(self) -> int:
        """How many tokens the answers to learn from have."""
        return sum(len(text) - start for text, start in self.texts() if not _held_out(text[:start]))

    def texts(self) -> Iterator[tuple[list[int], int]]:
        """(tokens, where the answer begins) of every example; hidden states stay on disk."""
        from safetensors import safe_open

        for shard in self.shards:
            with safe_open(shard, "pt") as file:
                lengths = file.get_tensor("lengths").tolist()
                texts = _parts(file.get_tensor("tokens"), lengths)
                for tokens, start in zip(
                    texts, file.get_tensor("answer_from").tolist(), strict=True
                ):
                    yield tokens.tolist(), start


def _parts(tensor: torch.Tensor, lengths: list[int]) -> Sequence[torch.Tensor]:
    parts: Sequence[torch.Tensor] = torch.split_with_sizes(tensor, lengths)
    return parts


def _told(shard: Path) -> dict[str, int]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(shard, "pt") as file:
            return {name: int(value) for name, value in file.metadata().items()}
    except (SafetensorError, OSError) as error:
        raise ForedraftError(
            f"{shard} is damaged; delete it, and its examples will be made again."
        ) from error


def _read(shard: Path) -> list[Example]:
    from safetensors.torch import load_file

    held = load_file(shard)
    lengths = held["lengths"].tolist()
    return [
        Example(tokens.long(), start, hidden)
        for tokens, start, hidden in zip(
            _parts(held["tokens"], lengths),
            held["answer_from"].tolist(),
            _parts(held["hidden"], lengths),
            strict=True,
        )
    ]


def _difference(found: Manifest, wanted: Manifest) -> str | None:
    """What `found` belongs to instead of `wanted`; the target's name may differ."""
    if found.weights != wanted.weights:
        return f"another target, {found.target} ({found.weights})"
    if found.taps != wanted.taps:
        return f"the taps {', '.join(map(str, found.taps))}"
    return f"the seed {found.seed}" if found.seed != wanted.seed else None
