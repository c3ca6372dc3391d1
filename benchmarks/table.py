"""Writes the measured table into both READMEs from the stored rivals' runs; --check only compares.

python benchmarks/table.py [--check]
"""

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- measured -->", "<!-- end -->"
ENGINES = (
    ("rivals-llama-server", "foredraft llama.cpp", "llama-server"),
    ("rivals-transformers", "foredraft half", "Transformers"),
)
"""(result, foredraft's methods in it, the rival that is shown at its best)."""


def columns(result: dict[str, Any], ours: str, rival: str) -> dict[str, list[str]]:
    """Prompt → foredraft plain and auto, and the rival's best in hindsight, in tokens a second."""
    found = {}
    best = result["families"][f"{rival}, any"]
    for prompt, row in result["prompts"].items():
        plain, auto = row[f"{ours} plain"], row[f"{ours} auto"]
        cell = best["prompts"][prompt]["best"]
        ratio = cell["tokens_per_s"] / plain["tokens_per_s"]
        found[prompt] = [
            f"{plain['tokens_per_s']:.1f}",
            f"{auto['tokens_per_s']:.1f} ({auto['over_plain']:.2f}x)",
            f"{cell['tokens_per_s']:.1f} ({ratio:.2f}x)",
        ]
    auto = result["geometric_mean_over_plain"][f"{ours} auto"]
    against = best["geometric_means"]["best over_foredraft"]
    found["geometric mean"] = ["", f"{auto:.2f}x", f"{auto * against:.2f}x"]
    return found


def table() -> str:
    """Every prompt a row; in brackets the ratio to foredraft's plain decoding on that engine."""
    head, sides = ["prompt"], []
    for name, ours, rival in ENGINES:
        result = json.loads((ROOT / f"benchmarks/results/{name}.json").read_text())
        sides.append(columns(result, ours, rival))
        engine = "llama.cpp" if "llama" in name else "PyTorch"
        head += [f"{engine}: plain", "**foredraft auto**", f"{rival}, best"]
    lines = [f"| {' | '.join(head)} |", "|---|" + "---:|" * (len(head) - 1)]
    for prompt in sides[0]:
        cells = [cell for side in sides for cell in side.get(prompt, ["–"] * 3)]
        lines.append(f"| {prompt} | {' | '.join(cells)} |")
    return "\n".join(lines)


def written(text: str) -> str:
    """`text` with the table between its marks brought up to date."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


def main() -> None:
    stale = []
    for name in ("README.md", "README.ja.md"):
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        if written(text) != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.write_text(written(text), encoding="utf-8")
    if stale and "--check" in sys.argv:
        sys.exit(f"{', '.join(stale)} differ from benchmarks/results; run python {sys.argv[0]}")


if __name__ == "__main__":
    main()
