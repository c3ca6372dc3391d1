"""What people see of an audit: a line for each check, and what it amounts to."""

from collections.abc import Iterator

from foredraft.core.types import Exactness
from foredraft.planner.audit.audit import Audit
from foredraft.planner.audit.difference import Difference
from foredraft.planner.audit.equality import Equality
from foredraft.planner.audit.pit import FALSE_ALARM, Fit

GOOD, BAD, OPEN = "✓", "✗", "–"


def lines(audit: Audit) -> Iterator[str]:
    """The report; a line begins with GOOD, BAD or OPEN (not tried), or tells more of the last."""
    yield _subject(audit)
    if audit.drafted == 0:
        yield (
            f"{OPEN} Nothing was drafted, so nothing is proved: add --drafter ngram --draft-len 4, "
            "or prompts whose answers repeat something."
        )
    yield from _equality("Greedy text", audit.greedy, audit)
    if audit.same_seed is not None:
        name = f"Text of a seed at temperature {audit.temperature:g}"
        yield from _equality(name, audit.same_seed, audit)
    if audit.fit is not None:
        yield from _fit(audit.fit, audit.temperature)
    else:
        yield (
            f"{OPEN} Sampled text: the server's texts, tokenised anew, had other numbers of tokens "
            "than it counted, so they cannot be judged."
        )
    yield _amounts(audit)


def _subject(audit: Audit) -> str:
    count = f"{len(audit.prompts)} prompt{'s' * (len(audit.prompts) != 1)}, seed {audit.seed}"
    if audit.exactness is None:
        return f"{audit.drafter} against {audit.model} on {audit.engine}: {count}"
    drafts = f"{audit.drafted} tokens drafted, {audit.accepted} accepted"
    return f"{audit.model} on {audit.engine}, {audit.drafter}, {audit.exactness}: {count}, {drafts}"


def _equality(name: str, found: Equality, audit: Audit) -> Iterator[str]:
    mark, parted = (GOOD if found.ok else BAD), len(found.differences)
    if not parted:
        yield f"{mark} {name}: all {found.tokens} tokens are plain decoding's"
        return
    checked = found.ok and audit.exactness is not None  # of a server's text the tokens are unknown
    rest = "; those after are the target's own choice" if checked else ""
    yield (
        f"{mark} {name}: {found.equal} of {found.tokens} tokens are plain decoding's, up to "
        f"{parted} difference{'s' * (parted != 1)}{rest}"
    )
    for item in found.differences:
        yield (
            f"    {item.prompt}, token {item.at + 1}: plain {item.plain!r}, here {item.other!r}; "
            f"{_explained(item, audit)}"
        )


def _explained(item: Difference, audit: Audit) -> str:
    if item.near:
        return f"near tie: margin {item.margin:.2g}, rounding reaches {audit.rounding:.2g}"
    if item.margin is None:
        return "real difference: no rounding explains it"
    if audit.exactness is Exactness.BITWISE:
        return f"real difference: at bitwise none may be (margin {item.margin:.2g})"
    return f"real difference: margin {item.margin:.2g}, rounding reaches {audit.rounding:.2g}"


def _fit(fit: Fit, temperature: float) -> Iterator[str]:
    def mark(test: str) -> str:
        return BAD if test in fit.off else GOOD

    chance = {test: f"chance {value:.2g}" for test, value in fit.p_values.items()}
    if fit.impossible:
        yield f"{BAD} Impossible tokens: {fit.impossible}, which the settings exclude"
    yield (
        f"{mark('surprise')} Surprise at temperature {temperature:g}: {fit.surprise:.3f} nats a "
        f"token, {fit.entropy:.3f} expected (z {fit.surprise_z:+.2f}, {chance['surprise']})"
    )
    for test, name, count in (
        ("likeliest", "Likeliest tokens", fit.likeliest),
        ("overrated", "Tokens the draft overrates", fit.overrated),
    ):
        if count.places:
            yield (
                f"{mark(test)} {name}: came at {count.came} of {count.places} places, "
                f"{count.expected:.1f} expected ({chance[test]})"
            )
    yield (
        f"{mark('places')} Places in the laws: {fit.distance:.3f} from uniform ({chance['places']})"
    )
    yield (
        f"{mark('neighbours')} Neighbouring tokens: correlation {fit.correlation:+.3f} "
        f"({chance['neighbours']})"
    )


def _amounts(audit: Audit) -> str:
    said = "Nothing is off." if audit.ok else "Something is off: see the lines with ✗."
    if audit.fit is None:
        return said
    return (
        f"{said} Of {1 / FALSE_ALARM:,.0f} audits of an exact engine one would find sampled tokens "
        f"off by chance; a mean surprise {audit.fit.visible:.2f} nats off shows nine times in ten."
    )
