"""Another engine's speculation audited from outside, by the text it sends."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from foredraft.planner.audit import ALLOWANCE, WARM, Audit, fit
from foredraft.planner.chooser import Chooser
from foredraft.planner.difference import Difference, margin
from foredraft.planner.equality import Equality, after, shown
from foredraft.planner.forced import Text, forced, rounding
from foredraft.planner.runs import Run, seed_of
from foredraft.rivals.prompts import Sample
from foredraft.rivals.server import Answer, Server
from foredraft.targets.base import Progress, Target, TextCodec


def against(
    generator: Generator,
    server: Server,
    request: Request,
    samples: Sequence[Sample],
    progress: Progress | None = None,
) -> Audit:
    """Audit a server by `generator`, which decodes plainly with the same weights.

    Greedy texts are compared with ours. Sampled texts are tokenised anew, and judged where that
    makes as many tokens as the server counted. ForedraftError for settings it cannot be sent.
    """
    temperature, seed = request.params.temperature, request.seed or 0
    cold = Request(SamplingParams(), request.max_new_tokens, seed=request.seed)
    if request != replace(cold, params=SamplingParams(temperature)):
        raise ForedraftError(
            "--against sends a temperature and a seed only, since engines apply other settings in "
            "other orders and draft as they were started; leave the others out."
        )
    warm = replace(cold, params=SamplingParams(temperature or WARM))
    tell = progress or (lambda what, done, total: None)
    asked = [
        (sample, replace(how, seed=seed_of(request, i)))
        for how in (cold, warm)
        for i, sample in enumerate(samples)
    ]
    answers: list[Answer] = []
    for sample, how in asked:
        tell("Asking the server", len(answers), len(asked))
        most, heat = how.max_new_tokens, how.params.temperature
        answers.append(server.ask(sample.messages, most, heat, how.seed or 0))
    ours: list[Text] = []
    for sample in samples:
        tell("Decoding plainly", len(ours), len(samples))
        prompt = generator.encode(sample.messages)
        result = generator.generate(prompt, cold)
        ours.append(Text(prompt, [token.id for token in result.tokens]))
    target, count = generator.target, len(samples)
    slack = ALLOWANCE * rounding(target, ours)
    sent = [answer.text for answer in answers[:count]]
    drawn = [
        found
        for plain, answer, (sample, how) in zip(ours, answers[count:], asked[count:], strict=True)
        if (found := _drawn(target.tokenizer, sample.id, plain.prompt, answer, how)) is not None
    ]
    return Audit(
        model=target.name,
        engine=target.engine,
        drafter=server.url,
        exactness=None,
        temperature=warm.params.temperature,
        seed=seed,
        prompts=tuple(sample.id for sample in samples),
        drafted=None,
        accepted=None,
        rounding=slack,
        greedy=_compare(target, [sample.id for sample in samples], ours, sent, cold, slack),
        same_seed=None,
        fit=fit(target, drawn, slack, tell) if drawn else None,
    )


def _drawn(
    codec: TextCodec, name: str, prompt: list[int], answer: Answer, request: Request
) -> Run | None:
    """A sampled answer as tokens, and the request they obey; None if they cannot be told."""
    start = len(codec.encode(""))
    output = codec.encode(answer.text)[start:]
    if not output or answer.tokens - len(output) not in (0, int(answer.ended)):
        return None
    # The end token is not in the text, so each of these was drawn given that it was none.
    given = replace(request.params, min_tokens=len(output))
    asked = replace(request, params=given)
    return Run(name, asked, Text(prompt, output), [None] * len(output), None)


def _compare(
    target: Target,
    ids: Sequence[str],
    ours: Sequence[Text],
    sent: Sequence[str],
    request: Request,
    slack: float,
) -> Equality:
    """Our greedy texts against those sent. The margin is that of our two best tokens where the
    texts part, since the other's token is not known for sure."""
    equal = 0
    found = []
    for name, text, other in zip(ids, ours, sent, strict=True):
        at = _parting(target.tokenizer, text.output, other)
        equal += len(text.output) if at is None else at
        if at is None:
            continue
        (logits,) = forced(target, target.open(), after(text, at))
        choose = partial(Chooser(target, request).token, text, at)
        off = margin(logits, choose, int(np.argsort(-logits, kind="stable")[1]))
        said = target.tokenizer.decode(text.output[:at])
        rest = other[len(said) :].split("\n")[0][:16]
        near = off is not None and off <= slack
        plain = shown(target, text.output[at])
        found.append(Difference(name, at, plain, rest or "(the end)", off, near))
    return Equality(sum(len(text.output) for text in ours), equal, tuple(found))


def _parting(codec: TextCodec, output: Sequence[int], text: str) -> int | None:
    """The first token of `output` whose text `text` does not have; None if it has all of it."""
    said = ""
    for at in range(len(output)):
        said = codec.decode(output[: at + 1]).rstrip("\ufffd")  # may be part of a character
        # Servers may take white space off the end.
        if not text.startswith(said) and said.rstrip() != text.rstrip():
            return at
    goes_on = output[-1] in codec.eos_ids and len(text.rstrip()) > len(said)
    return len(output) - 1 if goes_on else None
