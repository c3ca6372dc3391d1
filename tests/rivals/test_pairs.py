from foredraft.rivals.answer import Answer
from foredraft.rivals.openai import Question
from foredraft.rivals.pairs import Run, alternate, paired
from foredraft.rivals.prompts import Sample

ANSWER = Answer("a", 2, 0.1, 0.1, (0.1,), "stop")


class Asked:
    """A side that remembers what it was asked."""

    def __init__(self, name, log):
        self.name, self.log = name, log

    def ask(self, question):
        self.log.append((self.name, question.messages[0]["content"], question.seed))
        return ANSWER


def samples(*ids):
    return [Sample(i, "free", [{"role": "user", "content": i}]) for i in ids]


def test_the_order_flips_with_every_pair_and_every_repeat() -> None:
    log = []
    sides = {"on": Asked("on", log), "off": Asked("off", log)}
    runs = list(alternate(sides, samples("a", "b"), Question([], 8, 0.7), 2))
    assert log == [
        ("on", "a", 0), ("off", "a", 0), ("off", "b", 0), ("on", "b", 0),
        ("off", "a", 1), ("on", "a", 1), ("on", "b", 1), ("off", "b", 1),
    ]  # fmt: skip
    assert [(on.prompt, on.repeat, off.side) for on, off in paired(runs)] == [
        ("a", 0, "off"), ("b", 0, "off"), ("a", 1, "off"), ("b", 1, "off"),
    ]  # fmt: skip


def test_half_a_pair_is_none() -> None:
    assert paired([Run("a", 0, "on", ANSWER), Run("b", 0, "off", ANSWER)]) == []


def test_a_seed_matters_above_temperature_0_only() -> None:
    assert Question([], 8, 0.7, 3).body()["seed"] == 3
    assert "seed" not in Question([], 8, 0.0, 3).body()
