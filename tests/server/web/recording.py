"""An answer as the server streams it, the same every time."""

from typing import Any

_SENTENCE = "The tide comes in twice a day , and twice a day the tide goes out ."
TEXTS = [word if word in ",." else f" {word}" for word in _SENTENCE.split()] * 2
TEXTS[0] = "The"
PLAIN_S = 0.02
# What drafted, how many, how many of them were right; the target adds a token to each.
PASSES = [
    ("none", 0, 0),
    ("none", 0, 0),
    ("ngram", 3, 1),
    ("model", 2, 2),
    ("none", 0, 0),
    ("suffix", 4, 2),
    ("none", 0, 0),
    ("suffix", 6, 6),
    ("suffix", 6, 5),
    ("suffix", 3, 3),
]
WHY = "the most tokens for its time"
Json = dict[str, Any]


def rounds(speculates: bool, texts: list[str] | None = None) -> list[Json]:
    """Each round's `speculation` object, for the whole text."""
    left = list(enumerate(texts or TEXTS, 100))
    made: list[Json] = []
    passes = iter(PASSES if speculates else [])
    while left:
        drafter, drafted, accepted = next(passes, ("none", 0, 0))
        accepted = min(accepted, len(left) - 1)
        emitted, left = left[: accepted + 1], left[accepted + 1 :]
        made.append(_round(drafter, drafted, accepted, emitted))
    return made


def _round(drafter: str, drafted: int, accepted: int, emitted: list[tuple[int, str]]) -> Json:
    tokens = [
        {
            "id": number,
            "text": text,
            "from_draft": i < accepted,
            "drafter": drafter if i < accepted else None,
            "p": 0.9 - 0.1 * i,
            "rank": 1 + i // 2,
        }
        for i, (number, text) in enumerate(emitted)
    ]
    right = [{"id": number, "text": text} for number, text in emitted[:accepted]]
    wrong = [{"id": 900 + i, "text": f" wrong{i}"} for i in range(drafted - accepted)]
    draft = [{**token, "parent": i - 1} for i, token in enumerate(right + wrong)]
    rejected = int(drafted > accepted)
    plain = {"drafter": "none", "drafted": 0, "tokens": 1.0, "seconds": PLAIN_S}
    options = [plain]
    if drafted:
        seconds = PLAIN_S * (1 + 0.1 * drafted)
        more = {"drafter": drafter, "drafted": drafted, "tokens": 1 + 0.7 * drafted}
        options.append(more | {"seconds": seconds})
    return {
        "tokens": tokens,
        "round": {
            "drafted": draft,
            "drafter": drafter if drafted else None,
            "accepted": accepted,
            "rejected": rejected,
            "ignored": drafted - accepted - rejected,
            "emitted": len(tokens),
            "draft_s": 0.001 * drafted,
            "verify_s": options[-1]["seconds"],
            "sequences": 1,
            "rows": 1 + drafted,
            "why": WHY,
            "options": options,
        },
    }


def usage(made: list[Json], mode: str, seed: int) -> Json:
    """The usage of an answer of these rounds."""
    all_rounds = [step["round"] for step in made]
    count = {
        name: sum(one[name] for one in all_rounds)
        for name in ("accepted", "rejected", "ignored", "emitted", "draft_s", "verify_s")
    }
    judged = count["accepted"] + count["rejected"]
    speed = count["emitted"] / (count["draft_s"] + count["verify_s"])
    return {
        "prompt_tokens": 20,
        "completion_tokens": count["emitted"],
        "total_tokens": 20 + count["emitted"],
        "speculation": {
            "mode": mode,
            "exactness": "coupled",
            "lossy": False,
            "target_passes": len(made),
            "drafted": judged + count["ignored"],
            "accepted": count["accepted"],
            "rejected": count["rejected"],
            "ignored": count["ignored"],
            "acceptance_rate": count["accepted"] / judged if judged else None,
            "tokens_per_target_pass": count["emitted"] / len(made),
            "seed": seed,
            "queue_s": 0.0,
            "prefill_s": 0.0,
            "draft_s": count["draft_s"],
            "verify_s": count["verify_s"],
            "accept_s": 0.0,
            "tokens_per_s": speed,
            "plain_step_s": PLAIN_S,
            "speedup": speed * PLAIN_S,
        },
    }
