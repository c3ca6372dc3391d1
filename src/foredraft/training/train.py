"""From what a person asks to a draft: gather, learn, and say whether it pays."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from foredraft.rivals.prompts import Sample
from foredraft.targets.base import Progress
from foredraft.targets.torch_hf import TorchTarget
from foredraft.training.gather import Amount, Ended, gather
from foredraft.training.own import OwnPrompts, header
from foredraft.training.prompts import Sieve
from foredraft.training.states import Manifest, States, prompt_key


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person wants made; `judges` are the prompts it is judged with and must not learn."""

    kind: str
    out: Path
    amount: Amount
    longest: int
    judges: Sequence[Sample]
    seed: int = 0


def usual_taps(target: TorchTarget) -> tuple[int, ...]:
    """EAGLE-3's: what a layer near the first, one in the middle and one near the last read."""
    layers = target.model.config.get_text_config(decoder=True).num_hidden_layers
    return tuple(sorted({min(2, layers - 1), layers // 2, max(layers - 3, 0)}))


def gathered(target: TorchTarget, wanted: Wanted, report: Progress) -> tuple[States, Ended]:
    """The states in `wanted.out`, as many as are wanted or the bounds allow."""
    taps = usual_taps(target) if wanted.kind == "eagle3" else ()
    states = States.make(wanted.out / "states", Manifest.of(target, taps, wanted.seed))
    said = [message["content"] for sample in wanted.judges for message in sample.messages]
    sieve = Sieve(said, [prompt_key(tokens[:start]) for tokens, start in states.texts()])
    source = OwnPrompts(
        target.tokenizer, sieve, wanted.longest, wanted.seed + states.answer_tokens
    )
    begin = header(target.tokenizer)
    return states, gather(target, states, source.jobs(), begin, wanted.amount, report)
