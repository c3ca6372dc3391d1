"""llama.cpp through llama-cpp-python's low-level calls: a model, and contexts that run rows."""

import ctypes
import os
import re
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import llama_cpp as lib
import numpy as np
import numpy.typing as npt

from foredraft.core.errors import ForedraftError
from foredraft.core.types import LogitArray

CHUNK = 256
"""The most rows of a prompt a pass reads."""
OUTPUTS = 64
"""The most rows of a pass that may ask for logits: room for them is made at the start."""
PAGE = 256
"""llama.cpp looks at its cache in pages of this many cells; a context is whole pages."""

_PARTIAL = lib.LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY
_ERROR = 4  # GGML_LOG_LEVEL_ERROR

# llama.cpp has one log for the whole process and writes it to stderr unless somebody listens.
_errors: deque[str] = deque(maxlen=8)


@lib.llama_log_callback  # type: ignore[untyped-decorator]
def _listen(level: int, text: bytes, _: object) -> None:
    if level == _ERROR:
        _errors.append(text.decode(errors="replace"))


lib.llama_log_set(_listen, None)
lib.llama_backend_init()


def _why() -> str:
    """The first error llama.cpp has logged since the last call, without its function's name."""
    said = _errors[0] if _errors else "no reason given"
    _errors.clear()
    return (
        re.sub(r"^(\w+: )?(error loading model: )?", "", said.strip()).splitlines()[0].rstrip(".")
    )


class Model:
    """A GGUF file's weights as llama.cpp holds them; freed with this object.

    `repack` lets llama.cpp rearrange weights for the processor's matrix units; `gpu_layers` is
    how many layers go to a GPU, all if negative. `progress` hears of a share between 0 and 1.
    """

    def __init__(
        self,
        path: Path,
        *,
        gpu_layers: int = 0,
        repack: bool = True,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        def advance(share: float, _: object) -> bool:
            if progress is not None:
                progress(share)
            return True

        params = lib.llama_model_default_params()
        params.n_gpu_layers = gpu_layers
        params.use_extra_bufts = repack
        params.progress_callback = callback = lib.llama_progress_callback(advance)
        _errors.clear()
        self.pointer = lib.llama_model_load_from_file(os.fsencode(path), params)
        del callback  # it had to outlive the call
        if not self.pointer:
            raise ForedraftError(
                f"{path} cannot be loaded by llama.cpp ({_why()}); download it again, upgrade "
                "llama-cpp-python, or use --engine torch."
            )
        weakref.finalize(self, lib.llama_model_free, self.pointer)
        self.layout = f"{gpu_layers} GPU layers, {'repacked' if repack else 'as stored'}"
        self.vocab_size: int = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(self.pointer))
        self.context: int = lib.llama_model_n_ctx_train(self.pointer)
        self.size: int = lib.llama_model_size(self.pointer)
        self.window: int = lib.llama_model_n_swa(self.pointer)
        self.recurrent: bool = lib.llama_model_is_recurrent(
            self.pointer
        ) or lib.llama_model_is_hybrid(self.pointer)
        self.continues_text: bool = (
            lib.llama_model_has_decoder(self.pointer)
            and not lib.llama_model_has_encoder(self.pointer)
            and not lib.llama_model_is_diffusion(self.pointer)
        )


class Context:
    """A cache of `cells` tokens, shared by at most `sequences` sequences, and passes over it.

    Sequences are numbers here. Those whose owner the garbage collector took come back to the pool
    before the next pass, never during one.
    """

    def __init__(
        self, model: Model, name: str, *, cells: int, sequences: int, threads: int, kv_type: int
    ) -> None:
        params = lib.llama_context_default_params()
        params.n_ctx = -(-cells // PAGE) * PAGE
        params.n_batch = params.n_ubatch = CHUNK
        params.n_seq_max = sequences
        params.n_outputs_max = OUTPUTS
        params.n_threads = params.n_threads_batch = threads
        params.type_k = params.type_v = kv_type
        if kv_type == lib.GGML_TYPE_F32:
            # Flash attention would round keys and values to 16 bits all the same.
            params.flash_attn_type = lib.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.kv_unified = True  # the branches of a tree share the cells of their prefix
        _errors.clear()
        self._model = model  # must outlive the context
        self.pointer = lib.llama_init_from_model(model.pointer, params)
        if not self.pointer:
            raise ForedraftError(
                f"{name} gets no cache of {cells} tokens from llama.cpp ({_why()}); use a smaller "
                "--context or another --kv-type."
            )
        weakref.finalize(self, lib.llama_free, self.pointer)
        self.name, self.cells, self.sequences = name, cells, sequences
        self._memory = lib.llama_get_memory(self.pointer)
        self._free = list(range(sequences))
        self._returned: list[int] = []

    def take(self, owner: object | None = None) -> list[int]:
        """A fresh sequence, in a list whose members come back when `owner` is collected."""
        self._reclaim()
        if not self._free:
            raise ForedraftError(
                f"{self.name} holds {self.sequences} sequences (branches of trees counted), and "
                "all are in use; close one first or draft narrower trees."
            )
        ids = [self._free.pop()]
        if owner is not None:
            weakref.finalize(owner, self._returned.extend, ids).atexit = False
        return ids

    def give(self, sequence: int) -> None:
        """Empty a sequence and take it back."""
        self.cut(sequence, 0)
        self._free.append(sequence)

    def _reclaim(self) -> None:
        while self._returned:
            self.give(self._returned.pop())

    def run(
        self,
        tokens: Sequence[int],
        positions: Sequence[int],
        owners: Sequence[Sequence[int]],
        logits: bool,
    ) -> LogitArray | None:
        """One pass; each row belongs to all sequences of its `owners`. Logits of all rows [n, V].

        Raises ForedraftError if the cache is full or llama.cpp fails; rows may then be left over.
        """
        self._reclaim()
        rows = len(tokens)
        # Named, so that they live as long as the batch that points to them.
        token, position = np.array(tokens, np.int32), np.array(positions, np.int32)
        shares = np.array([len(ids) for ids in owners], np.int32)
        flat = np.array([i for ids in owners for i in ids], np.int32)
        starts = flat.ctypes.data + (np.cumsum(shares) - shares).astype(np.uintp) * flat.itemsize
        wanted = np.full(rows, logits, np.int8)
        batch = lib.llama_batch(
            n_tokens=rows,
            token=_at(token, lib.llama_token),
            pos=_at(position, lib.llama_pos),
            n_seq_id=_at(shares, ctypes.c_int32),
            seq_id=_at(starts, ctypes.POINTER(lib.llama_seq_id)),
            logits=_at(wanted, ctypes.c_int8),
        )
        _errors.clear()
        code = lib.llama_decode(self.pointer, batch)
        if code == 1:
            raise ForedraftError(
                f"The cache of {self.name} is full: all its sequences together hold {self.cells} "
                "tokens; use a larger --context or fewer sequences at once."
            )
        if code != 0:
            raise ForedraftError(
                f"llama.cpp failed to run {self.name} ({_why()}); use --engine torch, or a smaller "
                "--context if memory ran out."
            )
        if not logits:
            return None
        made = np.ctypeslib.as_array(
            lib.llama_get_logits(self.pointer), (rows, self._model.vocab_size)
        )
        answer: LogitArray = made.copy()  # the next pass writes its logits to the same place
        return answer

    def cut(self, sequence: int, length: int) -> bool:
        """Drop what a sequence holds from position `length` on; False if that is impossible."""
        return bool(lib.llama_memory_seq_rm(self._memory, sequence, length, -1))

    def copy(self, source: int, into: int) -> None:
        """Let `into`, empty before, share all that `source` holds."""
        lib.llama_memory_seq_cp(self._memory, source, into, -1, -1)

    def span(self, sequence: int) -> tuple[int, int]:
        """The first position held, above 0 once a sliding window's cells were used again, and
        one more than the last; (-1, 0) for an empty sequence."""
        return (
            int(lib.llama_memory_seq_pos_min(self._memory, sequence)),
            int(lib.llama_memory_seq_pos_max(self._memory, sequence)) + 1,
        )

    def save(self, sequence: int) -> npt.NDArray[np.uint8]:
        """The state of a sequence that cannot be cut: its recurrent part."""
        size = lib.llama_state_seq_get_size_ext(self.pointer, sequence, _PARTIAL)
        state = np.empty(size, np.uint8)
        lib.llama_state_seq_get_data_ext(
            self.pointer, _at(state, ctypes.c_uint8), size, sequence, _PARTIAL
        )
        return state

    def restore(self, sequence: int, state: npt.NDArray[np.uint8]) -> bool:
        """Put a saved state back; False if llama.cpp cannot."""
        return bool(
            lib.llama_state_seq_set_data_ext(
                self.pointer, _at(state, ctypes.c_uint8), state.size, sequence, _PARTIAL
            )
        )


def _at(array: npt.NDArray[Any], kind: Any) -> Any:
    return ctypes.cast(array.ctypes.data, ctypes.POINTER(kind))


def kv_type(name: str) -> int:
    """llama.cpp's number for a key/value format such as f16 or q8_0."""
    return int(getattr(lib, f"GGML_TYPE_{name.upper()}"))


def release() -> str:
    """llama-cpp-python's version."""
    return str(lib.__version__)


def offloads() -> bool:
    """Whether this build of llama.cpp can use a GPU."""
    return bool(lib.llama_supports_gpu_offload())
