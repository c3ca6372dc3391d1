"""A plan as a file to share: a page or a picture, by the file's ending."""

from importlib.util import find_spec
from pathlib import Path

from foredraft.core.errors import ForedraftError
from foredraft.core.files import write_whole
from foredraft.planner.page import page
from foredraft.planner.picture import picture
from foredraft.planner.plan import Plan

_ENDINGS = (".html", ".png")


def check_place(path: Path) -> None:
    """ForedraftError where no report can become of `path`: to be known before measuring."""
    if path.suffix.lower() not in _ENDINGS:
        raise ForedraftError(
            f"A report cannot be written to {path}: it is a page or a picture, by its ending; name "
            "a file that ends in .html or .png."
        )
    if not path.parent.is_dir():
        raise ForedraftError(f"There is no folder {path.parent} for the report; make it first.")
    if path.suffix.lower() == ".png" and find_spec("matplotlib") is None:
        raise ForedraftError(
            "A .png report needs matplotlib; install it with: pip install 'foredraft[plot]', or "
            "name a file that ends in .html."
        )


def write_report(plan: Plan, path: Path) -> None:
    """Write the report that the ending names."""
    check_place(path)
    content = page(plan) if path.suffix.lower() == ".html" else picture(plan)
    try:
        write_whole(path, content)
    except OSError as error:
        raise ForedraftError(
            f"The report cannot be written to {path} ({error.strerror}); name another file."
        ) from error
