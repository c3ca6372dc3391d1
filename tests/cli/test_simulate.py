"""`foredraft simulate`: its numbers, its words, and what it refuses."""

import json
import sys

import pytest

TOY = {"target": [0.4, 0.25, 0.15, 0.12, 0.08], "samples": 100_000}


def test_the_toy_experiment_emits_p_and_accepts_one_minus_tv(call):
    done = call("simulate", "acceptance", "--json")
    result = json.loads(done.out)
    assert done.status == 0
    assert result["expected_acceptance"] == 0.78
    assert result["acceptance_rate"] == pytest.approx(0.78, abs=0.005)
    assert {key: result[key] for key in TOY} == TOY
    assert result["observed"] == pytest.approx(result["target"], abs=0.006)
    assert sum(result["observed"]) == pytest.approx(1)


def test_the_toy_experiment_in_words(call):
    out = call("simulate", "acceptance", "--samples", "5000").out
    assert "0.4000" in out
    assert "1 − TV(p, q) predicts 78.00%" in out
    assert "Observed follows p" in out


def test_seeds_repeat_and_differ(call):
    runs = [call("simulate", "acceptance", "--json", "--seed", seed).out for seed in "001"]
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize(("p", "q"), [(".5,.5", "1 0"), ("1, 0", "0 1"), ("0.5 0.5", "0.5,0.5")])
def test_lists_may_use_commas_or_spaces_and_hold_zeros(call, p, q):
    result = json.loads(call("simulate", "acceptance", "--p", p, "--q", q, "--json").out)
    assert result["observed"] == pytest.approx(result["target"], abs=0.01)
    assert result["acceptance_rate"] == pytest.approx(result["expected_acceptance"], abs=0.01)


def test_a_sum_that_is_one_up_to_rounding_is_normalised(call):
    p = "0.3333333 0.3333333 0.3333333"
    result = json.loads(call("simulate", "acceptance", "--p", p, "--q", p, "--json").out)
    assert sum(result["target"]) == pytest.approx(1, abs=1e-12)
    assert result["acceptance_rate"] == 1


@pytest.mark.parametrize(
    ("p", "q", "says"),
    [
        ("0.5 0.4", "0.5 0.5", "--p adds up to 0.9; probabilities add up to 1."),
        ("0.5 0.5", "1.5 -0.5", "--q has -0.5; no probability is below 0."),
        ("0.5 0.5", "0.5 0.3 0.2", "p has 2 probabilities and q has 3"),
        ("half half", "0.5 0.5", "--p is 'half half'; write numbers"),
        ("", "0.5 0.5", "write numbers"),
        ("nan 1", "0.5 0.5", "write numbers"),
    ],
)
def test_what_is_no_distribution_is_refused(refuse, p, q, says):
    refuse("simulate", "acceptance", "--p", p, "--q", q, says=says)


def test_a_sample_that_strays_is_called_out(call, monkeypatch):
    from foredraft.cli import simulate

    monkeypatch.setattr(simulate, "chance_of", lambda counts, p: 1e-9)
    assert "Observed strays from p" in call("simulate", "acceptance", "--samples", "9").out


def test_speedup_lists_every_combination(call):
    done = call("simulate", "speedup", "--alpha", "0.6,0.8", "--cost", ".05 .3", "--json")
    cells = json.loads(done.out)
    assert [tuple(c[k] for k in ("alpha", "cost", "gamma")) for c in cells] == [
        (alpha, cost, gamma)
        for alpha in (0.6, 0.8)
        for cost in (0.05, 0.3)
        for gamma in (1, 2, 5, 8)
    ]
    assert cells[2]["expected_tokens"] == pytest.approx(2.38336)
    assert cells[2]["speedup"] == pytest.approx(1.91, abs=0.005)
    assert cells[3]["speedup"] == pytest.approx(1.77, abs=0.005)
    assert cells[6]["speedup"] < 1


def test_speedup_marks_what_slows_down(call, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    arguments = ("simulate", "speedup", "--alpha", "0.6", "--cost", "0.3", "--gamma", "1,5")
    out = call(*arguments).out
    assert "1.23x" in out
    assert "0.95x ↓" in out
    assert "↓ slower than plain decoding" in out
    assert "\x1b" not in out
    assert "slower" not in call(*arguments[:-1], "1").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[31m0.95x ↓" in call(*arguments).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[31m" not in call(*arguments).out


def test_a_verify_curve_lowers_the_speedup(call):
    free, dear = (
        json.loads(call("simulate", "speedup", "--gamma", "2", "--json", *curve).out)[0]["speedup"]
        for curve in ((), ("--verify-curve", "1,1.4,1.7"))
    )
    assert free == pytest.approx(1.96 / 1.1)
    assert dear == pytest.approx(1.96 / 1.8)


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_plot_draws_the_curves(call, tmp_path, ending):
    picture = tmp_path / f"speedup.{ending}"
    out = call("simulate", "speedup", "--plot", str(picture)).out
    assert f"Wrote {picture}." in out.replace("\n", "")
    assert picture.read_bytes()[:4] in (b"\x89PNG", b"<?xm")
    json.loads(call("simulate", "speedup", "--plot", str(picture), "--json").out)


def test_a_picture_that_cannot_be_drawn_is_refused(refuse, tmp_path, monkeypatch):
    refuse(
        "simulate", "speedup", "--plot", str(tmp_path / "no" / "a.png"), says="cannot be written"
    )
    refuse("simulate", "speedup", "--plot", str(tmp_path / "a.what"), says="cannot be written")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    refuse("simulate", "speedup", "--plot", "a.png", says="pip install 'foredraft[plot]'")


def test_best_names_the_length_the_gain_and_the_ceiling(call):
    arguments = ("simulate", "best", "--alpha", "0.6", "--cost", "0.05")
    result = json.loads(call(*arguments, "--json").out)
    assert (result["alpha"], result["cost"], result["gamma"]) == (0.6, 0.05, 4)
    assert result["speedup"] == pytest.approx(1.92, abs=0.005)
    assert result["ceiling"] == pytest.approx(2.5)
    assert call(*arguments).out == (
        "γ = 4: draft 4 tokens a round to decode 1.92x as fast as without "
        "(the ceiling, with free drafts, is 2.50x).\n"
    )


def test_best_says_when_not_to_speculate(call):
    arguments = ("simulate", "best", "--alpha", "0.2", "--cost", "0.3")
    assert call(*arguments).out.startswith("γ = 0, do not speculate")
    assert json.loads(call(*arguments, "--json").out)["gamma"] == 0
    dear = ("--alpha", "0.8", "--cost", "0", "--verify-curve", "1,2,3")
    assert "do not speculate" in call("simulate", "best", *dear).out


def test_best_without_a_ceiling_is_still_json(call):
    out = call("simulate", "best", "--alpha", "1", "--cost", "0.1", "--json").out
    assert json.loads(out)["ceiling"] is None
    assert "unlimited" in call("simulate", "best", "--alpha", "1", "--cost", "0.1").out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("speedup", "--alpha", "1.2"), "alpha is 1.2"),
        (("speedup", "--cost", "-1"), "cost is -1.0"),
        (("speedup", "--gamma", "1.5"), "write whole numbers, such as 1,2,5."),
        (("speedup", "--gamma", "-1"), "gamma is -1"),
        (("speedup", "--verify-curve", "1.4,1.7"), "must start with 1, the cost of one row"),
        (("speedup", "--verify-curve", "1,0"), "one positive ratio"),
        (("speedup", "--verify-curve", "x"), "write numbers"),
        (("best", "--alpha", "-0.1", "--cost", "0.1"), "alpha is -0.1"),
        (("best", "--alpha", "0.5"), "--cost"),
        (("acceptance", "--samples", "0"), "--samples"),
    ],
)
def test_bad_values_are_refused(refuse, arguments, says):
    refuse("simulate", *arguments, says=says)


@pytest.mark.parametrize("command", ["acceptance", "speedup", "best"])
def test_help_teaches_by_example(call, command):
    out = call("simulate", command, "--help").out
    assert f"Example: foredraft simulate {command}" in out
