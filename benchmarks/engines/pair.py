"""A target and its draft in PyTorch, loaded once a number format and shared by every engine."""

from functools import cache

import torch

from engines.base import EngineError
from foredraft.targets.torch_hf import TorchTarget, load_target
from foredraft.targets.weights import load

FORMS = {"half": "float16", "packed": "float32", "bfloat16": "bfloat16", "float32": None}
"""A form's dtype in foredraft: half (float16 weights, float32 arithmetic) and packed (float32) lay
the weights out anew for the CPU; bfloat16 and float32 are as PyTorch has them."""


@cache
def load_one(name: str, form: str) -> TorchTarget:
    """One model in one form; foredraft and Transformers run the very same object."""
    if form not in FORMS:
        raise EngineError(f"There is no form {form!r}; choose from {', '.join(FORMS)}.")
    dtype = FORMS[form]
    if dtype is None:
        plain = load(name, torch.float32, torch.device("cpu"))
        return TorchTarget(plain.model, plain.tokenizer, plain.name)
    return load_target(name, dtype, "cpu")
