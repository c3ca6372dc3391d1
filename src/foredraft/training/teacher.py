"""What a draft learns from: its target's matrices, and its laws at texts that it has read."""

from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from foredraft.training.states import Example

_AT_ONCE = 256


class Teacher:
    """A TorchTarget whose hidden states after the last norm are the last part of an example's."""

    def __init__(self, target: Any) -> None:
        self.model, self.tokenizer, self.name = target.model, target.tokenizer, target.name
        self.config = target.model.config.get_text_config(decoder=True)
        self.embedding: torch.Tensor = target.model.get_input_embeddings().weight.detach()
        self.output: Any = target.model.get_output_embeddings()

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        return self.embedding[ids].float()

    def gain(self) -> torch.Tensor:
        """What the last norm multiplies numbers of length 1 with [H]; some keep it less one."""
        ones = torch.ones(self.config.hidden_size, dtype=self.embedding.dtype)
        gain: torch.Tensor = self.model.get_decoder().norm(ones.to(self.embedding.device))
        return gain.detach().float()

    def rows(self, ids: torch.Tensor) -> torch.Tensor:
        """The output matrix's rows of some tokens [n, H]."""
        return weight_of(self.output, ids)

    @torch.no_grad()
    def law(self, example: Example) -> torch.Tensor:
        """p of each answer token [n, V], and of what would come after the last."""
        last = example.hidden[max(0, example.answer_from - 1) :, -self.config.hidden_size :]
        p: torch.Tensor = self.output(last.to(self.embedding.dtype)).float().softmax(-1)
        return p


def distance(wanted: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
    """What the draft's law lacks of the target's, both as logits [n, rows] over one vocabulary."""
    return cross_entropy(logits.float(), wanted.float().softmax(1))


def weight_of(linear: Any, rows: torch.Tensor | None = None) -> torch.Tensor:
    """The float32 weight [out, in] of a linear layer, or some `rows` of it, in whatever form it is
    kept.

    A packed layer tells it by what it makes of unit vectors.
    """
    wanted = slice(None) if rows is None else rows
    if isinstance(linear, nn.Linear):
        return linear.weight.detach()[wanted].float()
    bias = linear(torch.zeros(1, linear.in_features))[:, wanted]
    units = torch.split(torch.eye(linear.in_features), _AT_ONCE)
    return torch.cat([linear(unit)[:, wanted] - bias for unit in units]).T.contiguous()
