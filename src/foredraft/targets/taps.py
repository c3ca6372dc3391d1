"""Hidden states of a target, caught as its passes go by and kept beside each sequence's tokens."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from foredraft.core.errors import ForedraftError
from foredraft.targets.kv import grown

Caught = dict[int, torch.Tensor]
"""Tap → hidden states [1, rows, H] of one pass."""


class Taps:
    """The places of a model at which hidden states are caught, by hooks: a pass costs the same.

    A tap is an index into Transformers' `hidden_states`: i is what layer i reads (0: the
    embeddings), the number of layers what the last norm gives.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._caught: Caught | None = None
        self.places: set[int] = set()

    def add(self, taps: Sequence[int]) -> None:
        """Catch at these places too; ForedraftError if the model has none of that number."""
        decoder, layers = _decoder(self._model)
        for tap in sorted(set(taps) - self.places):
            if not 0 <= tap <= len(layers):
                raise ForedraftError(
                    f"The draft head reads hidden state {tap}, but {type(self._model).__name__} "
                    f"has {len(layers)} layers, so it was made for another target."
                )
            if tap < len(layers):
                layers[tap].register_forward_pre_hook(self._reader(tap), with_kwargs=True)
            else:
                decoder.register_forward_hook(self._writer(tap))
            self.places.add(tap)

    @property
    def asking(self) -> dict[str, bool]:
        """What to ask of the model so that every row runs through all layers: those of Gemma 4 that
        share keys and values else run only the rows whose logits are wanted."""
        config = self._model.config.get_text_config(decoder=True)
        shares = getattr(config, "num_kv_shared_layers", 0)
        return {"output_hidden_states": True} if shares and self.places else {}

    @contextmanager
    def catching(self) -> Iterator[Caught]:
        """Within, a pass leaves its hidden states in what this gives."""
        caught: Caught = {}
        self._caught = caught
        try:
            yield caught
        finally:
            self._caught = None

    def _reader(self, tap: int) -> Any:
        def hook(module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            if self._caught is not None:
                self._caught[tap] = args[0] if args else kwargs["hidden_states"]

        return hook

    def _writer(self, tap: int) -> Any:
        def hook(module: torch.nn.Module, args: tuple[Any, ...], output: Any) -> None:
            if self._caught is not None:
                self._caught[tap] = output[0]

        return hook


def _decoder(model: Any) -> tuple[torch.nn.Module, torch.nn.ModuleList]:
    """The stack of layers that ends in the last norm, and its layers."""
    decoder: torch.nn.Module = model.get_decoder()
    count = model.config.get_text_config(decoder=True).num_hidden_layers
    for child in decoder.children():
        if isinstance(child, torch.nn.ModuleList) and len(child) == count:
            return decoder, child
    raise ForedraftError(
        f"{type(model).__name__} does not show its layers, so no draft head can read its hidden "
        "states; use --drafter suffix or a draft model."
    )


class States:
    """The hidden states of one sequence's first `length` tokens, by tap; row i is token i's.

    Accepted rows count at once, also where a recurrent model has yet to read their tokens again.
    """

    def __init__(self) -> None:
        self.length = 0
        self._rows: dict[int, torch.Tensor] = {}

    def lack(self, places: set[int]) -> bool:
        """Whether its first tokens were read before one of these taps was asked for."""
        return not places <= self._rows.keys()

    def write(self, start: int, rows: slice, caught: Caught) -> None:
        """Put `rows` of a pass at `start`; a tap that missed earlier tokens stays missing."""
        for tap, states in caught.items():
            new = states[None, :, rows]
            if start == 0 and tap not in self._rows:
                self._rows[tap] = new[:, :, :0]
            if tap in self._rows:
                end = start + new.shape[2]
                self._rows[tap] = grown(self._rows[tap], end)
                self._rows[tap][:, :, start:end] = new

    def keep(self, start: int, path: Sequence[int]) -> None:
        """Commit rows of the last pass, which was put at `start`."""
        self.length = start + len(path)
        if list(path) != list(range(len(path))):
            for rows in self._rows.values():
                source = start + torch.tensor(path, device=rows.device)
                rows[:, :, start : start + len(path)] = rows[:, :, source]

    def copy(self, length: int) -> "States":
        """Another sequence's, which begins with the same `length` tokens."""
        copied = States()
        copied.length = length
        copied._rows = {tap: rows[:, :, :length].clone() for tap, rows in self._rows.items()}
        return copied

    def hidden(self, taps: Sequence[int], start: int, end: int) -> torch.Tensor:
        """[end − start, len(taps) · H]; see Features."""
        return torch.cat([self._rows[tap][0, 0, start:end] for tap in taps], dim=-1)
