"""From what a person asks to a draft: gather, learn, and say whether it pays."""

import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.drafters.base import CostlyDrafter
from foredraft.drafters.head import HeadDrafter
from foredraft.engine.load import pair
from foredraft.heads.load import load_head
from foredraft.planner.plan import Choice, Plan
from foredraft.planner.planning import plan
from foredraft.planner.survey import Scope, survey
from foredraft.rivals.prompts import Sample
from foredraft.targets.base import Progress
from foredraft.targets.torch_hf import TorchTarget, load_target
from foredraft.training.answers import Answering
from foredraft.training.data import Chat, data_jobs
from foredraft.training.gather import Amount, Ended, gather
from foredraft.training.learn import Kind, Options, Trained, learn
from foredraft.training.loop import Course
from foredraft.training.own import own_jobs
from foredraft.training.prompts import Sieve
from foredraft.training.states import Manifest, States, prompt_key
from foredraft.training.vocabulary import draft_vocabulary

STATES = "states"
_TOLD = "training.json"


@dataclass(frozen=True, slots=True)
class Material:
    """What to learn from: `data`, answered anew if `own_answers`; the target's own prompts if None.

    `judges` are the prompts that the draft is judged with, which it must not learn; answers have
    at most `longest` tokens.
    """

    judges: Sequence[Sample]
    data: Sequence[Chat | str] | None = None
    own_answers: bool = True
    longest: int = 256
    seed: int = 0


def gathered(
    target: TorchTarget,
    kind: Kind,
    out: Path,
    material: Material,
    amount: Amount,
    report: Progress,
) -> tuple[States, Ended]:
    """The hidden states in `out`, as many as are wanted or the bounds allow."""
    taps = usual_taps(target) if kind is Kind.EAGLE3 else ()
    states = States.make(out / STATES, Manifest.of(target, taps, material.seed))
    said = [message["content"] for sample in material.judges for message in sample.messages]
    sieve = Sieve(said, [prompt_key(tokens[:start]) for tokens, start in states.texts()])
    seed = material.seed + states.answer_tokens  # another one when it goes on
    answering = Answering(target.tokenizer, sieve, material.longest, target.context, seed)
    if material.data is None:
        jobs = own_jobs(answering)
    else:
        jobs = data_jobs(material.data, answering, material.own_answers)
    ended = gather(target, states, jobs, answering.header, amount, seed, report)
    return states, ended


def usual_taps(target: TorchTarget) -> tuple[int, ...]:
    """EAGLE-3's: what a layer near the first, one in the middle and one near the last read."""
    layers = target.model.config.get_text_config(decoder=True).num_hidden_layers
    return tuple(sorted({min(2, layers - 1), layers // 2, max(layers - 3, 0)}))
