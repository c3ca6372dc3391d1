"""Earlier outputs to draft from, shared by requests, and kept in a file across restarts."""

import os
from collections import deque
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from threading import Lock
from zipfile import BadZipFile

import numpy as np

from foredraft.core.errors import ForedraftError
from foredraft.core.files import write_whole
from foredraft.drafters.places import END, Copy, Places

_FORMAT = 1
_NONE = np.array([], dtype=np.int32)


class SuffixStore:
    """Earlier outputs, shared by the requests that are given it; the oldest leave first.

    `capacity` is in tokens. With a `path`, the outputs found there are remembered, and written
    back after each that is added. `vocabulary` is what identifies the tokenizer: its outputs are
    not another's. Threads may share a store. Users who must not learn of each other need stores
    of their own: what one drafts from another's text shows in speed, never in the output.
    """

    def __init__(
        self,
        capacity: int = 1 << 18,
        path: Path | None = None,
        vocabulary: Sequence[int] = (),
    ) -> None:
        if capacity < 1:
            raise ForedraftError(
                f"The suffix store's capacity is {capacity}; it must be 1 token or more."
            )
        self._capacity = capacity
        self._path = path
        self._vocabulary = list(vocabulary)
        self._places = Places()
        self._lengths: deque[int] = deque()
        self._lock = Lock()
        self._saving = Lock()
        if path is not None:
            self._load(path)

    def __len__(self) -> int:
        """How many tokens are remembered."""
        return len(self._places) - len(self._lengths)

    def after(self, ending: Sequence[int], limit: int) -> list[Copy]:
        """How the outputs went on after `ending`; see Places."""
        with self._lock:
            return self._places.after(ending, limit)

    def add(self, output: Sequence[int]) -> None:
        """Remember a finished output, making room for it; one above the capacity is cut."""
        if output:
            self._remember(output)
            if self._path is not None:
                self._save(self._path)

    def _remember(self, output: Sequence[int]) -> None:
        text = output[: self._capacity]
        with self._lock:
            self._places.extend([*text, END])
            self._lengths.append(len(text))
            while len(self) > self._capacity:
                self._places.forget(self._lengths.popleft() + 1)

    def _save(self, path: Path) -> None:
        """Write all outputs whole or not at all: whenever it ends, one of the files is complete."""
        with self._saving:
            with self._lock:
                tokens = np.array(self._places.tokens[-len(self._places) :], dtype=_NONE.dtype)
            whole = BytesIO()
            np.savez(whole, format=_FORMAT, vocabulary=self._vocabulary, tokens=tokens)
            try:
                write_whole(path, whole.getvalue())
            except OSError as error:
                raise ForedraftError(
                    f"The answers could not be written to {path} ({error.strerror}); choose "
                    "another file for --store."
                ) from error

    def _load(self, path: Path) -> None:
        if not os.access(path.parent, os.W_OK):
            raise ForedraftError(
                f"{path.parent} is no folder that can be written to, so {path.name} cannot be "
                "kept there; choose another file for --store."
            )
        if not path.exists():
            return
        try:
            with np.load(path, allow_pickle=False) as saved:
                version, vocabulary = int(saved["format"]), saved["vocabulary"].tolist()
                tokens = saved["tokens"] if version == _FORMAT else _NONE
            if tokens.dtype != _NONE.dtype or tokens.ndim != 1 or (tokens < END).any():
                raise ValueError("no row of token ids")
            if tokens.size and tokens[-1] != END:
                raise ValueError("the last text has no end")
        except (OSError, ValueError, TypeError, KeyError, EOFError, BadZipFile) as error:
            raise ForedraftError(
                f"{path} does not hold foredraft's answers, or is damaged; delete it to begin "
                "anew, or choose another file for --store."
            ) from error
        if version != _FORMAT:
            raise ForedraftError(
                f"{path} was written by a newer foredraft (format {version}, this one reads "
                f"{_FORMAT}); update foredraft, or choose another file for --store."
            )
        if vocabulary != self._vocabulary:
            raise ForedraftError(
                f"{path} holds the answers of a model with another tokenizer; choose another file "
                "for --store."
            )
        text: list[int] = []
        for token in tokens.tolist():
            if token == END:
                self._remember(text)
                text = []
            else:
                text.append(token)
