"""A small language model with the target's tokenizer, taught with what the target wrote."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import torch
from torch import nn
from torch.nn.functional import cross_entropy, one_hot

from foredraft.training.alpha import Alpha, Drafted, alpha
from foredraft.training.publish import publish_small
from foredraft.training.states import Example
from foredraft.training.teacher import Teacher

CONTEXT = 4096
_HEAD = 32
_OTHERS = 2048
"""Tokens that never occur, other ones each step, that stand for all such in the softmax."""


@dataclass(frozen=True, slots=True)
class Size:
    """The width of the residual stream, and the layers."""

    width: int
    layers: int


def coordinates(embedding: torch.Tensor, count: int) -> torch.Tensor:
    """A target's embedding [V, D] along its `count` principal axes, the longest first."""
    centred = embedding - embedding.mean(0)
    _, axes = torch.linalg.eigh(centred.T @ centred)  # ascending
    found: torch.Tensor = centred @ axes[:, -count:].flip(1)
    return found


def build(size: Size, rows: torch.Tensor, eos: frozenset[int]) -> Any:
    """An untrained model whose input and output rows both are `rows` [V, width], scaled so that
    they have length 1 on average: what the target knows of its tokens need not be learnt."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    heads = size.width // _HEAD
    config = LlamaConfig(
        vocab_size=len(rows),
        hidden_size=size.width,
        intermediate_size=3 * size.width,
        num_hidden_layers=size.layers,
        num_attention_heads=heads,
        num_key_value_heads=heads,
        head_dim=_HEAD,
        max_position_embeddings=CONTEXT,
        initializer_range=0.7 * size.width**-0.5,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=sorted(eos),
    )
    model = LlamaForCausalLM(config)
    model.get_input_embeddings().weight.data.copy_(rows / rows.square().sum(1).mean().sqrt())
    return model


class _Body(nn.Module):
    """What learns of a model: the rows of tokens that occur, the layers and the norm."""

    def __init__(self, model: Any, used: torch.Tensor) -> None:
        super().__init__()
        self.rows = nn.Parameter(model.get_input_embeddings().weight.detach()[used])
        self.layers, self.norm = model.model.layers, model.model.norm


class SmallTrainee:
    """Learns the next token by cross-entropy; minutes on a processor.

    `used` are the tokens that occur in the texts: the rows of the others stay as they are, and a
    few of them at a time stand for all in the softmax.
    """

    def __init__(self, model: Any, used: torch.Tensor, teacher: Teacher | None = None) -> None:
        """Without a teacher, drafts are judged by the texts themselves."""
        self.model, self._teacher = model, teacher
        self._embedding = model.get_input_embeddings().weight.data
        occurs = torch.zeros(len(self._embedding), dtype=torch.bool)
        occurs[used] = True
        self._used, self._others = occurs.nonzero()[:, 0], (~occurs).nonzero()[:, 0]
        self._small = occurs.cumsum(0) - 1
        self.network = _Body(model, self._used)
        self.rate = 0.25 / model.config.hidden_size

    @classmethod
    def begin(cls, teacher: Teacher, used: torch.Tensor, size: Size) -> Self:
        """An untrained model for the teacher's tokens."""
        rows = coordinates(teacher.embedding.float(), size.width)
        return cls(build(size, rows, teacher.tokenizer.eos_ids), used, teacher)

    def loss(self, examples: Sequence[Example]) -> torch.Tensor:
        hidden, labels = self._hidden(examples)
        logits = hidden @ self.network.rows.T
        if len(self._others):
            drawn = self._others[torch.randint(len(self._others), (_OTHERS,))]
            others = hidden @ self._embedding[drawn].T
            logits = torch.cat([logits, others + math.log(len(self._others) / _OTHERS)], 1)
        return cross_entropy(logits.float(), labels)

    @torch.no_grad()
    def judge(self, examples: Sequence[Example], steps: int = 4) -> Alpha:
        self.finish()
        return alpha((self._drafted(example, steps) for example in examples), steps)

    def publish(self, folder: Path) -> None:
        assert self._teacher is not None
        self.finish()
        publish_small(self.model, self._teacher.tokenizer, folder)

    def finish(self) -> None:
        """Put the rows that were learnt into the model, where its layers are."""
        self._embedding[self._used] = self.network.rows.data

    def _hidden(self, examples: Sequence[Example]) -> tuple[torch.Tensor, torch.Tensor]:
        """What the output rows are multiplied with before each answer token, and these tokens."""
        lengths = [len(example.tokens) for example in examples]
        ids = nn.utils.rnn.pad_sequence([self._small[one.tokens] for one in examples], True)
        out = self.model.model(inputs_embeds=self.network.rows[ids[:, :-1]], use_cache=False)
        taught = torch.zeros(ids.shape[0], ids.shape[1] - 1, dtype=torch.bool)
        for row, (example, length) in enumerate(zip(examples, lengths, strict=True)):
            taught[row, max(0, example.answer_from - 1) : length - 1] = True
        return out.last_hidden_state[taught], ids[:, 1:][taught]

    def _drafted(self, example: Example, steps: int) -> list[Drafted]:
        """One network drafts every token, so a later step is the first one further on."""
        hidden, _ = self._hidden([example])
        q = (hidden @ self._embedding.T).softmax(1)
        tokens = example.tokens[-len(q) :]
        if self._teacher is None:
            p = one_hot(tokens, q.shape[1]).float()
        else:
            p = self._teacher.law(example)[:-1]
        return [Drafted.of(p[i:], q[i:], tokens[i:]) for i in range(steps)]
