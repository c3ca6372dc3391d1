"""Another engine's speculation audited from outside, by the text it sends."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from foredraft.planner.audit.audit import ALLOWANCE, WARM, Audit, fit
from foredraft.planner.audit.difference import Difference
from foredraft.planner.audit.equality import Equality, after, shown
from foredraft.planner.audit.forced import Text, forced, rounding
from foredraft.planner.audit.runs import Run, seed_of
from foredraft.rivals.answer import Answer
from foredraft.rivals.openai import Question, Server
from foredraft.rivals.prompts import Sample
from foredraft.targets.base import Progress, Target, TextCodec

_UNFILTERED = {"top_p": 1.0, "top_k": 0, "min_p": 0.0}


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
    temperature = request.params.temperature
    cold = Request(SamplingParams(), request.max_new_tokens, seed=request.seed)
    if request != replace(cold, params=SamplingParams(temperature)):
        raise ForedraftError(
            "--against sends a temperature and a seed only, since engines apply other settings in "
            "other orders and draft as they were started; leave the others out."
        )
    warm = replace(cold, params=SamplingParams(temperature or WARM))
    target, tell = generator.target, progress or (lambda what, done, total: None)
    sent = _ask(server, samples, cold, tell)
    sampled = _ask(server, samples, warm, tell)
    ours: list[Text] = []
    for sample in samples:
        tell("Decoding plainly", len(ours), len(samples))
        prompt = sample.tokens(target.tokenizer)
        ours.append(Text(prompt, [t.id for t in generator.generate(prompt, cold).tokens]))
    slack = ALLOWANCE * rounding(target, ours)
    pairs = [(text.prompt, answer) for text, answer in zip(ours, sampled, strict=True)]
    drawn = [run for pair in pairs if (run := _drawn(target.tokenizer, *pair, warm)) is not None]
    ids = tuple(sample.id for sample in samples)
    return Audit(
        model=target.name,
        engine=target.engine,
        drafter=server.url,
        exactness=None,
        temperature=warm.params.temperature,
        seed=request.seed or 0,
        prompts=ids,
        drafted=None,
        accepted=None,
        rounding=slack,
        greedy=_compare(target, ids, ours, [answer.text for answer in sent], slack),
        same_seed=None,
        fit=fit(target, drawn, slack, tell) if drawn else None,
    )


def _ask(
    server: Server, samples: Sequence[Sample], request: Request, tell: Progress
) -> list[Answer]:
    answers: list[Answer] = []
    for i, sample in enumerate(samples):
        tell(f"Asking {server.url}", i, len(samples))
        most, temperature = request.max_new_tokens, request.params.temperature
        question = Question(sample.messages, most, temperature, seed_of(request, i))
        answers.append(server.also(_UNFILTERED).ask(question))
    return answers


def _drawn(codec: TextCodec, prompt: list[int], answer: Answer, request: Request) -> Run | None:
    """A sampled answer as tokens, and the request they obey; None if they cannot be told."""
    start = len(codec.encode(""))  # a token that begins every text, or none
    output = codec.encode(answer.text)[start:]
    extra = (answer.tokens or 0) - len(output)
    if not output or extra not in (0, int(answer.finish_reason == "stop")):
        return None
    # The end token is not in the text, so each of these was drawn given that it was none.
    given = replace(request.params, min_tokens=len(output))
    text = Text(prompt, output)
    return Run("", replace(request, params=given), text, [None] * len(output), None)


def _compare(
    target: Target, ids: Sequence[str], ours: Sequence[Text], sent: Sequence[str], slack: float
) -> Equality:
    """Our greedy texts against those sent. The margin is that of our two best tokens where the
    texts part, since the other's token is not known for sure."""
    equal = 0
    found = []
    for name, text, other in zip(ids, ours, sent, strict=True):
        parting = _parting(target.tokenizer, text.output, other)
        equal += parting.start
        if not parting:
            continue
        margins = [_top_two(target, text, at) for at in parting]
        at, off = parting[int(np.argmin(margins))], min(margins)
        rest = other[len(target.tokenizer.decode(text.output[: parting.start])) :]
        said = rest.split("\n")[0][:16] or "(the end)"
        plain = shown(target, text.output[at])
        found.append(Difference(name, at, plain, said, off, off <= slack))
    return Equality(sum(len(text.output) for text in ours), equal, tuple(found))


def _top_two(target: Target, text: Text, at: int) -> float:
    """How far apart the two best logits for output token `at` are."""
    (logits,) = forced(target, target.open(), after(text, at))
    second, best = np.sort(logits)[-2:]
    return float(best - second)


def _parting(codec: TextCodec, output: Sequence[int], text: str) -> range:
    """The tokens of `output` at which `text` may have left it: one, or those of one character, of
    which a text shows only the last. Empty, at the end, if `text` has all of it."""
    said, whole = "", 0
    for at in range(len(output)):
        said = codec.decode(output[: at + 1])
        if said.endswith("\ufffd"):  # part of a character
            continue
        # Servers may take white space off the end.
        if not text.startswith(said) and said.rstrip() != text.rstrip():
            return range(whole, at + 1)
        whole = at + 1
    goes_on = output[-1] in codec.eos_ids and len(text.rstrip()) > len(said)
    return range(len(output) - goes_on, len(output))
