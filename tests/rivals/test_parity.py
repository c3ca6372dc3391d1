import pytest

from foredraft.rivals.parity import NEAR, Parting, Verdict, judge, parted


def token(text, *rivals, spelled=None):
    """A token, likeliest first, with rivals (text, how much less likely)."""
    top = [{"token": text, "logprob": -0.5}]
    top += [{"token": rival, "logprob": -0.5 - gap} for rival, gap in rivals]
    made = {"token": text, "logprob": -0.5, "top_logprobs": top}
    return made if spelled is None else made | {"bytes": list(spelled)}


def piece(data, *rivals):
    """The same for bytes that are a part of a character."""
    top = [{"token": "�", "bytes": list(data[-1:]), "logprob": -0.5}]
    top += [{"token": "�", "bytes": list(r), "logprob": -0.5 - gap} for r, gap in rivals]
    return {"token": "?", "bytes": list(data), "top_logprobs": top}


OFF = "The tide comes in."
TOKENS = [
    token("The"),
    token(" tide"),
    token(" comes", (" rises", 0.05), (" goes", 2.0)),
    token(" in", (" out", 1.0)),
    token(".", ("!", 3.0)),
]


@pytest.mark.parametrize(
    ("on", "off", "where"),
    [("ab", "ab", None), ("ab", "ac", 1), ("ab", "abc", 2), ("abc", "ab", 2), ("", "a", 0)],
)
def test_where_texts_part(on: str, off: str, where: int | None) -> None:
    assert parted(on, off) == where


def test_the_same_text() -> None:
    assert judge("p", OFF, OFF, [OFF], ()).verdict is Verdict.SAME


def test_a_near_tie() -> None:
    found = judge("p", "The tide rises high.", OFF, [OFF], TOKENS)
    assert (found.verdict, found.character) == (Verdict.NEAR_TIE, 9)
    assert found.parting == Parting(2, pytest.approx(0.05), pytest.approx(0.05))
    assert (found.on, found.off) == ("rises high.", "comes in.")


@pytest.mark.parametrize(("on", "gap"), [("The tide goes out.", 2.0), ("The tide is low.", None)])
def test_a_real_difference(on: str, gap: float | None) -> None:
    found = judge("p", on, OFF, [OFF], TOKENS)
    assert found.verdict is Verdict.DIFFERENT
    assert found.parting.margin == pytest.approx(0.05)
    assert found.parting.gap == (None if gap is None else pytest.approx(gap))


def test_the_token_that_differs_may_come_before_the_character_that_does() -> None:
    tokens = [token("it"), token(".", ('."', 0.02)), token(" A", (" The", 1.5))]
    found = judge("p", 'it." I', "it. A", [], tokens)
    assert (found.verdict, found.character, found.parting.token) == (Verdict.NEAR_TIE, 3, 1)


def test_an_end_is_as_unlikely_as_the_margin() -> None:
    ended = judge("p", "The tide", OFF, [], TOKENS)
    assert (ended.verdict, ended.parting.gap) == (Verdict.NEAR_TIE, pytest.approx(0.05))
    longer = judge("p", f"{OFF} And out.", OFF, [], [*TOKENS, token("", (" And", NEAR / 2))])
    assert (longer.verdict, longer.parting.token) == (Verdict.NEAR_TIE, 5)
    unlisted = judge("p", f"{OFF} And out.", OFF, [], TOKENS)
    assert (unlisted.verdict, unlisted.parting) == (Verdict.UNKNOWN, None)


def test_tokens_that_are_parts_of_a_character() -> None:
    tokens = [token("こ", spelled="こ".encode()), piece("ん".encode(), ("れ".encode()[2:], 0.02))]
    found = judge("p", "これは", "こん", [], tokens)
    assert (found.verdict, found.parting.token) == (Verdict.NEAR_TIE, 1)
    # The first part differs, and of that one nothing is told.
    assert judge("p", "こー", "こん", [], tokens).verdict is Verdict.UNKNOWN


def test_a_mark_of_thought_before_the_text() -> None:
    found = judge("p", "The tide rises.", OFF, [], [token("<think>\n"), *TOKENS])
    assert (found.verdict, found.parting.token) == (Verdict.NEAR_TIE, 3)


def test_without_log_probabilities() -> None:
    found = judge("p", "The tide rises.", OFF, [OFF], ())
    assert (found.verdict, found.parting) == (Verdict.UNKNOWN, None)
    assert judge("p", "The tide rises.", OFF, [OFF], [token("Other")]).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"token": "The tide comes"},
        {"bytes": [999]},
        {"token": OFF, "top_logprobs": [None, {"logprob": "x"}]},
    ],
)
def test_odd_tokens_explain_nothing(odd: dict) -> None:
    assert judge("p", "The tide rises.", OFF, [OFF], [odd]).verdict is Verdict.UNKNOWN


def test_a_text_that_changes_without_speculation_too() -> None:
    on = "The tide goes out."
    assert judge("p", on, OFF, [OFF, "The sea"], ()).verdict is Verdict.UNSTEADY
    assert judge("p", on, OFF, [OFF, "The tide comes on."], ()).verdict is Verdict.UNKNOWN
    near = judge("p", "The tide rises.", OFF, [OFF, "The sea"], TOKENS)
    assert near.verdict is Verdict.NEAR_TIE
