"""What training a draft gave: the stored answers of `foredraft train --json`, a run a row."""

from pathlib import Path

from tables.base import RESULTS, Result, markdown, number, stored, times

HEAD = ("target", "learnt from", "parameters", "α, temperature 0", "α, temperature 1")
SAID = """What training gave (`train*.json`): α of the first, second … drafted token on prompts
held out, each given that those before it were accepted, and the planner's opinion."""
NONE = "No training is kept yet; `foredraft train TARGET --out DIR --kind {} --json` makes one."


def table(kind: str) -> str:
    """Every run `train*.json` of a kind: `eagle3`, `medusa` or `small`."""
    runs = [stored(name) for name in sorted(path.stem for path in RESULTS.glob("train*.json"))]
    lines = [_line(run) for run in runs if run["lesson"]["plan"]["kind"] == kind]
    if not lines:
        return NONE.format(kind)
    return f"{SAID}\n\n{markdown([*HEAD, 'predicted'], lines)}"


def _line(run: Result) -> list[str]:
    lesson = run["lesson"]
    alphas = (lesson["alpha"][name] for name in ("greedy", "sampled"))
    return [
        Path(run["judged"]["target"]).name,
        f"{lesson['answer_tokens']:,} tokens",
        f"{number(lesson['parameters'] / 1e6, 1)} M",
        *(", ".join(map(number, rates)) for rates in alphas),
        f"{times(run['predicted_speedup'])}, γ = {run['draft_len']}",
    ]
