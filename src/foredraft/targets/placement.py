"""Where a model runs and in which number format, when the user leaves it to us."""

import torch

from foredraft.core.errors import ForedraftError
from foredraft.targets.packed import has_half

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
DEVICES = ("cpu", "cuda", "mps")


def place(dtype: str, device: str) -> tuple[torch.dtype, torch.device]:
    """The number format and device for "auto" or for a named choice.

    "auto" takes the fastest device there is and its fastest format. float16 on a CPU is the format
    of the weights: rows and sums stay float32 there, so that several rows cost little more than
    one, which bfloat16 does only on a CPU with units for it.
    """
    if device == "auto":
        device = "cuda" if _has("cuda") else "mps" if _has("mps") else "cpu"
    kind, _, index = device.partition(":")
    if kind not in DEVICES or not (index.isdigit() or not index):
        raise ForedraftError(f"Unknown device {device!r}; choose auto, {', '.join(DEVICES)}.")
    if not _has(kind):
        raise ForedraftError(
            f"The device {device} is not available to PyTorch on this machine; use --device cpu."
        )
    if dtype == "auto":
        return _native(kind), torch.device(device)
    if dtype not in DTYPES:
        raise ForedraftError(f"Unknown dtype {dtype!r}; choose auto, {', '.join(DTYPES)}.")
    return DTYPES[dtype], torch.device(device)


def _has(kind: str) -> bool:
    if kind == "cuda":
        return torch.cuda.is_available()
    return kind == "cpu" or torch.backends.mps.is_available()


def _native(kind: str) -> torch.dtype:
    if kind == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    if kind == "mps":
        return torch.float16
    if has_half():  # x86, where oneDNN also claims bfloat16 for processors that emulate it
        return torch.bfloat16 if torch.cpu._is_avx512_bf16_supported() else torch.float16
    return torch.bfloat16 if torch.ops.mkldnn._is_mkldnn_bf16_supported() else torch.float32
