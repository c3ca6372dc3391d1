"""Writes the measured table into both READMEs from results/decode.json; --check only compares.

python benchmarks/table.py [--check]
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- decode.json -->", "<!-- end -->"
METHODS = (
    "foredraft plain",
    "foredraft ngram",
    "foredraft model",
    "Transformers plain",
    "Transformers lookup",
    "Transformers assisted",
)


def table() -> str:
    """Tokens per second and the ratio to the same engine's plain decoding, a prompt a row."""
    result = json.loads((ROOT / "benchmarks/results/decode.json").read_text())
    methods = [name for name in METHODS if name in result["geometric_mean_over_plain"]]
    lines = [
        f"| prompt | {' | '.join(methods)} |",
        "|---|" + "---:|" * len(methods),
    ]
    for prompt, row in result["prompts"].items():
        cells = [f"{row[m]['tokens_per_s']:.1f} ({row[m]['over_plain']:.2f}x)" for m in methods]
        lines.append(f"| {prompt} | {' | '.join(cells)} |")
    means = [f"{result['geometric_mean_over_plain'][m]:.2f}x" for m in methods]
    lines.append(f"| geometric mean | {' | '.join(means)} |")
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
