"""Where a model runs: the defaults work, and a bad choice is refused in one sentence."""

import pytest
import torch

from foredraft.core.errors import ForedraftError
from foredraft.targets.placement import place


def test_auto_is_something_this_machine_has():
    dtype, device = place("auto", "auto")
    torch.zeros(2, dtype=dtype, device=device)


def test_names_are_taken_as_given():
    assert place("bfloat16", "cpu") == (torch.bfloat16, torch.device("cpu"))


@pytest.mark.parametrize(
    ("dtype", "device", "sentence"),
    [
        ("int3", "cpu", "Unknown dtype 'int3'"),
        ("auto", "tpu", "Unknown device 'tpu'"),
        ("auto", "cpu:x", "Unknown device"),
    ],
)
def test_bad_choices(dtype, device, sentence):
    with pytest.raises(ForedraftError, match=sentence):
        place(dtype, device)


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without CUDA")
def test_a_missing_device_is_named():
    with pytest.raises(ForedraftError, match="cuda is not available"):
        place("auto", "cuda")


@pytest.mark.parametrize(
    ("half", "units", "emulated", "expected"),
    [
        (True, False, True, torch.float16),  # AVX2, and AVX512 without bfloat16 units
        (True, True, True, torch.bfloat16),
        (False, False, True, torch.bfloat16),  # Arm with bfloat16
        (False, False, False, torch.float32),
    ],
)
def test_the_fastest_format_of_a_cpu(half, units, emulated, expected, monkeypatch):
    monkeypatch.setattr("foredraft.targets.placement.has_half", lambda: half)
    monkeypatch.setattr("torch.cpu._is_avx512_bf16_supported", lambda: units)
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: emulated)
    assert place("auto", "cpu")[0] == expected
