"""Linear layers whose weight oneDNN lays out once, so that a few rows cost little more than one.

PyTorch's own float32 product rearranges the whole weight at every call with more than one row,
which makes verifying on a CPU several times dearer than it need be (docs/log.md has the figures).
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn


class PackedLinear(nn.Module):
    """A float32 `nn.Linear` on the CPU with its weight in oneDNN's own layout; inference only."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        # Plain attributes: an opaque tensor can be neither saved nor moved with the module.
        self.packed = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach(), None)
        self.bias = None if linear.bias is None else linear.bias.detach()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            x, self.packed, self.bias, "none", [], ""
        )
        return out


def pack(model: Any, progress: Callable[[int, int], None] | None = None) -> bool:
    """Replace every `nn.Linear` of a float32 CPU model in place; False where it does not apply.

    `progress(done, total)` counts layers.
    """
    ready = torch.backends.mkldnn.is_available() and hasattr(  # type: ignore[no-untyped-call]
        torch.ops.mkldnn, "_reorder_linear_weight"
    )
    if not ready or model.device.type != "cpu" or model.dtype != torch.float32:
        return False
    with torch.inference_mode():
        found = [
            (parent, name)
            for parent in model.modules()
            for name, child in parent.named_children()
            if type(child) is nn.Linear
        ]
        for done, (parent, name) in enumerate(found):
            setattr(parent, name, PackedLinear(getattr(parent, name)))
            if progress is not None:
                progress(done + 1, len(found))
    return True
