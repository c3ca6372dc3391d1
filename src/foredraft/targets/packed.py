"""Linear layers whose weight is laid out once, so that a few rows cost little more than one.

PyTorch's own float32 product rearranges the whole weight at every call with more than one row,
which makes verifying on a CPU several times dearer than it need be (docs/log.md has the figures).
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from torch import nn

_LARGEST_HALF = torch.finfo(torch.float16).max


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


class HalfLinear(nn.Module):
    """An `nn.Linear` with its weight in float16, rows and sums in float32: half the bytes to read.

    A bfloat16 checkpoint's weights keep their values, float16 having more digits; below its range
    they are off by less than 3e-8.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.packed = torch.ops.quantized.linear_prepack_fp16(linear.weight, linear.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # "dynamic" names a mode of PyTorch's quantization; here the rows stay as they are.
        out: torch.Tensor = torch.ops.quantized.linear_dynamic_fp16(x, self.packed)
        return out


def has_half() -> bool:
    """Whether this machine multiplies float32 rows with float16 weights: x86 with AVX2 (FBGEMM)."""
    return (
        torch.backends.quantized.engine in ("x86", "fbgemm")
        and torch.backends.cpu.get_cpu_capability().startswith("AVX")
        and hasattr(torch.ops.quantized, "linear_dynamic_fp16")
    )


def pack(
    model: Any, half: bool = False, progress: Callable[[int, int], None] | None = None
) -> bool:
    """Replace every `nn.Linear` of a float32 CPU model in place; False where it does not apply.

    `half` keeps in float16 all weights in its range. `progress(done, total)` counts layers.
    """
    ready = torch.backends.mkldnn.is_available() and hasattr(  # type: ignore[no-untyped-call]
        torch.ops.mkldnn, "_reorder_linear_weight"
    )
    if not ready or model.device.type != "cpu" or model.dtype != torch.float32:
        return False
    found = [
        (parent, name)
        for parent in model.modules()
        for name, child in parent.named_children()
        if type(child) is nn.Linear
    ]

    @torch.inference_mode()
    def replace(place: tuple[nn.Module, str]) -> None:
        linear = getattr(*place)
        kind = HalfLinear if half and _fits_half(linear.weight) else PackedLinear
        setattr(*place, kind(linear))

    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        for done, _ in enumerate(pool.map(replace, found)):
            if progress is not None:
                progress(done + 1, len(found))
    return True


def _fits_half(weight: torch.Tensor) -> bool:
    low, high = weight.aminmax()
    return bool(low >= -_LARGEST_HALF and high <= _LARGEST_HALF)
