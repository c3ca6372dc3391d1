"""What the lookups are worth before their price: tokens a pass by γ."""

from tables.base import markdown, stored


def table(prefix: str) -> str:
    """Tokens a pass and, in brackets, drafted tokens a pass, of methods whose name begins so."""
    found = stored("lookup")["methods"]
    chosen = {name: by for name, by in found.items() if name.startswith(prefix)}
    lengths = list(next(iter(chosen.values())))
    return markdown(
        ["", *(f"γ = {length}" for length in lengths)],
        [[name, *map(_cell, by.values())] for name, by in chosen.items()],
    )


def _cell(counted: dict[str, float]) -> str:
    return f"{counted['tokens_per_pass']:.2f} ({counted['drafted_per_pass']:.1f})"
