"""A progress bar on standard error: on a terminal, for what takes longer than a moment."""

import sys
from collections.abc import Mapping
from threading import Timer
from typing import Self

_MOMENT_S = 0.5


class Bar:
    """Call it with (what, done, total) at every news; `close` takes the bar off the screen.

    `units` says what is counted: where it is known, the bar tells how much of it a second.
    """

    def __init__(self, what: str, units: Mapping[str, str] | None = None) -> None:
        # Rich's bars cost 50 ms to import, which --help need not pay.
        from rich import progress
        from rich.console import Console
        from rich.text import Text

        class Speed(progress.ProgressColumn):
            def render(self, task: progress.Task) -> Text:
                unit = (units or {}).get(task.description)
                return Text(f"{task.speed:.0f} {unit}/s" if unit and task.speed else "")

        self._what = what
        self._progress = progress.Progress(
            progress.SpinnerColumn(),
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(bar_width=20),
            progress.TaskProgressColumn(),
            Speed(),
            progress.TimeRemainingColumn(compact=True),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._progress.add_task(what, total=None)
        self._timer = Timer(_MOMENT_S, self._progress.start)
        self._timer.daemon = True
        self._shown = sys.stderr.isatty()
        if self._shown:
            self._timer.start()

    def __call__(self, what: str, done: int, total: int) -> None:
        if what != self._what:
            self._what = what
            self._progress.reset(self._task, description=what)
        self._progress.update(self._task, completed=done, total=total)

    def close(self) -> None:
        if not self._shown:
            return
        self._timer.cancel()
        self._timer.join()  # or it might start the bar after it was stopped
        self._progress.live.stop()
        self._shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
