"""An EAGLE-3 head before its first lesson: made of its target's last layer."""

from typing import Any

import torch

from foredraft.heads.eagle3 import Eagle3, Eagle3Settings
from foredraft.heads.layers import layer_config
from foredraft.training.teacher import Teacher, weight_of

_LEAST = 1024
"""The narrowest MLP a head has, where its target's is wider."""


def fresh(teacher: Teacher, taps: int, ids: torch.Tensor) -> Eagle3:
    """A head that reads `taps` hidden states and drafts the tokens `ids`.

    What it can take from the target it need not learn.
    """
    config = teacher.config
    raw = config.to_dict() | {"num_hidden_layers": 1, "layer_types": ["full_attention"]}
    raw["intermediate_size"] = min(config.intermediate_size, _LEAST)
    settings = Eagle3Settings(config.hidden_size, taps, len(ids))
    network = Eagle3(layer_config(raw), settings)
    return network
