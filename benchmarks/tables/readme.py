"""The READMEs' table: foredraft beside each rival's best, a prompt a row."""

from tables.base import Result, markdown, stored

ENGINES = (
    ("rivals-llama-server", "foredraft llama.cpp", "llama-server"),
    ("rivals-bfloat16", "foredraft bfloat16", "Transformers"),
)
"""(result, foredraft's methods in it, the rival that is shown at its best)."""


def table(words: str) -> str:
    """Every prompt a row; in brackets the ratio to foredraft's plain decoding on that engine."""
    head, sides = ["prompt"], []
    for name, ours, rival in ENGINES:
        sides.append(columns(stored(name), ours, rival))
        engine = "llama.cpp" if "llama" in name else "PyTorch"
        head += [f"{engine}: plain", "**foredraft auto**", f"{rival}, best"]
    return markdown(
        head,
        [
            [prompt, *(cell for side in sides for cell in side.get(prompt, ["–"] * 3))]
            for prompt in sides[0]
        ],
    )


def columns(result: Result, ours: str, rival: str) -> dict[str, list[str]]:
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
