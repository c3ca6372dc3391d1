"""EAGLE-3 learns on its own outputs, as it will have to draft from them (2503.01840, §3.2)."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, Self

import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import DynamicCache

from foredraft.heads.eagle3 import Eagle3
from foredraft.heads.layers import Pass
from foredraft.training.alpha import Alpha, Drafted, alpha
from foredraft.training.publish import publish_eagle3
from foredraft.training.start import fit, fresh, scale_of
from foredraft.training.states import Example, States
from foredraft.training.teacher import Teacher, distance

_RATE = 0.6
_DECAY = 0.8

Embed = Callable[[torch.Tensor], torch.Tensor]


def unrolled(
    network: Eagle3,
    rotary: Any,
    embed: Embed,
    ids: torch.Tensor,
    taps: torch.Tensor,
    begin: int,
    steps: int,
) -> list[torch.Tensor]:
    """What the output matrix reads in each of `steps` drafting steps, [B, S − begin − i, h].

    Of texts `ids` [B, S + 1] with the hidden states `taps` [B, S, ·] of all but their last token.
    Row r of step i has read the text to token begin + r + 1 + i, the last i tokens as a draft, that
    is beside the head's own outputs instead of the target's. So it sees the keys of step 0 up to
    its slot begin + r and, of each later step, the key of its own row. Short texts have fewer
    steps.
    """
    slots, start = taps.shape[1], 0
    causal = torch.ones(slots, slots, dtype=torch.bool, device=ids.device).tril()
    hidden, sees = network.fuse(taps)[0], causal
    cache = DynamicCache(config=network.config)
    outs = []
    for step in range(min(steps, slots - begin)):
        if step:
            hidden = hidden[:, :-1]
            own = torch.eye(hidden.shape[1], dtype=torch.bool, device=ids.device)
            sees = torch.cat([sees[:-1], own], 1)
        embedded = embed(ids[:, start + 1 + step :])
        positions = torch.arange(start + step, slots, device=ids.device)[None]
        place = Pass(rotary(embedded, positions), sees[None, None], cache)
        hidden = network.run(embedded, hidden, place)
        if not step:
            hidden, sees, start = hidden[:, begin:], causal[begin:], begin
        outs.append(network.normed(hidden))
    return outs


class Eagle3Trainee:
    """Learns the target's law over its draft vocabulary `ids`, at each of `steps` drafting steps;
    later ones count less, as they are reached less often."""

    def __init__(
        self,
        network: Eagle3,
        teacher: Teacher,
        taps: Sequence[int],
        scale: torch.Tensor,
        ids: torch.Tensor,
        steps: int,
    ) -> None:
        """`scale` [taps · H] is what the hidden states are multiplied with in training."""
        self.network = network
        self.rate = _RATE / teacher.config.hidden_size
        self._teacher, self._taps, self._ids, self._steps = teacher, taps, ids, steps
        self._scale, self._rows = scale, teacher.rows(ids)
        self._rotary = network.rotary()

    @classmethod
    def begin(cls, teacher: Teacher, states: States, ids: torch.Tensor, steps: int) -> Self:
        """A head that has learnt what least squares can teach it."""
        taps = states.manifest.taps
        scale = scale_of(states)
        network = fresh(teacher, taps, ids)
        fit(network, teacher, states, scale)
        return cls(network, teacher, taps, scale, ids, steps)

    def loss(self, examples: Sequence[Example]) -> torch.Tensor:
        begin = max(0, min(one.answer_from for one in examples) - 2)
        taught = pad_sequence([_taught(one, begin) for one in examples], True)
        last = pad_sequence([one.hidden[begin + 1 :] for one in examples], True)
        with torch.no_grad():
            wanted = last[..., -self._rows.shape[1] :].float() @ self._rows.T
        losses = []
        for step, out in enumerate(self._unrolled(examples, begin)):
            rows = taught[:, step:]
            if not rows.any():  # all of these answers are shorter than that
                break
            logits = self.network.lm_head(out[rows])
            losses.append(_DECAY**step * distance(wanted[:, step:][rows], logits))
        return torch.stack(losses).sum()

    def publish(self, folder: Path) -> None:
        network = deepcopy(self.network)
        network.fc.weight.data *= self._scale
        publish_eagle3(network, self._ids, self._taps, self._teacher, self._steps, folder)

    @torch.no_grad()
    def judge(self, examples: Sequence[Example]) -> Alpha:
        return alpha(map(self._drafted, examples), self._steps)

    def _unrolled(self, examples: Sequence[Example], begin: int) -> list[torch.Tensor]:
        ids = pad_sequence([one.tokens for one in examples], True)
        hidden = pad_sequence([one.hidden for one in examples], True)
        taps = hidden[:, :-1, : len(self._scale)].float() * self._scale
        embed = self._teacher.embed
        return unrolled(self.network, self._rotary, embed, ids, taps, begin, self._steps)

    def _drafted(self, example: Example) -> list[Drafted]:
        begin = max(0, example.answer_from - 2)
        p = self._teacher.law(example)
        tokens = example.tokens[begin + 2 :]
        steps = []
        for step, out in enumerate(self._unrolled([example], begin)):
            q = torch.zeros(len(tokens) - step, p.shape[1])
            q[:, self._ids] = self.network.lm_head(out[0, :-1]).softmax(1)
            steps.append(Drafted.of(p[step:-1], q, tokens[step:]))
        return steps


def _taught(example: Example, begin: int) -> torch.Tensor:
    """Of the places whose next token is drafted from slot `begin` on: whether it is an answer's."""
    places = torch.arange(begin + 1, len(example.tokens))
    return places >= example.answer_from - 1
