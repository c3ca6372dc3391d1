"""Transformers without its bars and warnings: what matters is raised as a sentence of ours."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet() -> Iterator[None]:
    """Silence for a block; the user's own settings come back after it."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def first_line(error: BaseException) -> str:
    """The first line of what a library said, to be set in parentheses."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(".:")
