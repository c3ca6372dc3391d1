"""Hidden states caught while a model runs, by hooks: no second pass, and no other model code."""

from collections.abc import Sequence
from typing import Any, Self

import torch

_MOST = torch.finfo(torch.float16).max


class Capture:
    """Within, each pass of the model leaves its states at the taps and after the last norm."""

    def __init__(self, model: Any, taps: Sequence[int]) -> None:
        self._decoder = model.get_decoder()
        self._taps = tuple(taps)
        self._caught: dict[int, torch.Tensor] = {}
        self._hooks: list[Any] = []

    def take(self) -> torch.Tensor:
        """Those of the last pass, float16 [texts, rows, (taps + 1) · H]."""
        states = torch.cat([self._caught[tap] for tap in (*self._taps, -1)], -1)
        self._caught.clear()
        return states.clamp(-_MOST, _MOST).to(torch.float16)

    def __enter__(self) -> Self:
        for tap in self._taps:
            layer = self._decoder.layers[tap]
            self._hooks.append(layer.register_forward_pre_hook(self._before(tap), with_kwargs=True))
        self._hooks.append(self._decoder.register_forward_hook(self._after))
        return self

    def __exit__(self, *_: object) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()

    def _before(self, tap: int) -> Any:
        def caught(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            self._caught[tap] = args[0] if args else kwargs["hidden_states"]

        return caught

    def _after(self, _: Any, args: Any, output: Any) -> None:
        self._caught[-1] = output.last_hidden_state
