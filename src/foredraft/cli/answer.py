"""One answer, streamed, that Ctrl-C ends early and cleanly."""

import signal
from collections.abc import Callable
from contextlib import closing, suppress
from types import FrameType
from typing import Self

from foredraft.cli.bar import Bar
from foredraft.cli.show import Screen
from foredraft.engine.generator import Generator
from foredraft.engine.loop import Round
from foredraft.engine.request import Prompt, Request
from foredraft.engine.result import Result


class Patience:
    """Ctrl-C raises KeyboardInterrupt at the next `check`, where the engine's cache is whole.

    A second Ctrl-C does not wait for it.
    """

    def __enter__(self) -> Self:
        self._asked = False
        self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True

    def check(self) -> None:
        if self._asked:
            raise KeyboardInterrupt

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)


def answer(
    generator: Generator,
    prompt: Prompt,
    request: Request,
    screen: Screen,
    watch: Callable[[Round], None] | None = None,
) -> Result:
    """Generate, showing each token as it comes; after Ctrl-C the Result has no finish_reason."""
    reading = "Reading the prompt"
    with Bar(reading) as bar, Patience() as patience:

        def progress(done: int) -> None:
            bar(reading, done, stream.result.stats.prompt_tokens)
            patience.check()

        stream = generator.stream(prompt, request, progress, watch)
        try:
            with closing(stream), suppress(KeyboardInterrupt):
                for token in stream:
                    bar.close()
                    screen.token(token)
                    patience.check()
        finally:
            screen.end()
    return stream.result
