"""Whether this build of llama.cpp survives on this processor, found out in another process.

Built with gcc 12 on a processor with AMX it dies of a segmentation fault once it rearranges
weights for the matrix units. Nothing in the same process can catch that.
"""

import json
import logging
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import StrEnum
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from foredraft.core.errors import ForedraftError
from foredraft.targets.hub import cache_dir

REBUILD = (
    "CC=clang CXX=clang++ pip install --force-reinstall --no-cache-dir --no-binary :all: --no-deps "
    "llama-cpp-python"
)
_WIDTH = 256
_TYPES = ("Q4_0", "Q4_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL")
_LIMIT_S = 120

Attempt = Callable[[bool], bool]
"""Tries llama.cpp with rearranged weights or without; whether it survived."""


class Outcome(StrEnum):
    """What works: rearranged weights, only weights as they are in the file, or nothing."""

    REPACKED = "repacked"
    AS_STORED = "as stored"
    NOTHING = "nothing"


def repacking_works(attempt: Attempt | None = None, memory: Path | None = None) -> bool:
    """Whether llama.cpp may rearrange weights here; tried once, then remembered in `memory`.

    Warns once where it may not. Raises ForedraftError if llama.cpp crashes either way.
    """
    memory = memory or cache_dir() / "llama_cpp.json"
    key, known = _build(), _recall(memory)
    if key not in known:
        attempt = attempt or survives
        known[key] = next(
            (
                o
                for o, repack in ((Outcome.REPACKED, True), (Outcome.AS_STORED, False))
                if attempt(repack)
            ),
            Outcome.NOTHING,
        )
        with suppress(OSError):  # it is tried again next time
            memory.parent.mkdir(parents=True, exist_ok=True)
            memory.write_text(json.dumps(known))
        if known[key] == Outcome.AS_STORED:
            logging.getLogger("foredraft").warning(
                "llama-cpp-python crashes here when it rearranges weights for this processor, so "
                "it runs without that, more slowly; a build with clang does not: %s",
                REBUILD,
            )
    if known[key] == Outcome.NOTHING:
        raise ForedraftError(
            "llama-cpp-python crashes on this machine, even with a model of a few numbers; build "
            f"it again ({REBUILD}) or use --engine torch."
        )
    return known[key] == Outcome.REPACKED


def survives(repack: bool) -> bool:
    """Run this file in a child process; whether it ended well."""
    command = [sys.executable, "-m", __name__, "repack" if repack else ""]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _build() -> str:
    """This build on this processor: another of either is tried anew."""
    spec = find_spec("llama_cpp")
    folder = Path(spec.origin).parent if spec and spec.origin else Path()
    built = max((file.stat().st_mtime_ns for file in folder.glob("lib/*ggml-cpu*")), default=0)
    return f"{version('llama-cpp-python')} {built} {_processor()}"


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _recall(memory: Path) -> dict[str, str]:
    try:
        known = json.loads(memory.read_text())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def write_model(path: Path) -> None:
    """The smallest model that has a matrix of each usual type; every number in it is zero."""
    from gguf import GGMLQuantizationType, GGUFWriter
    from gguf.quants import quant_shape_to_byte_shape

    writer = GGUFWriter(path, "llama")
    writer.add_tokenizer_model("none")
    writer.add_vocab_size(_WIDTH)
    writer.add_block_count(len(_TYPES))
    writer.add_context_length(_WIDTH)
    writer.add_embedding_length(_WIDTH)
    writer.add_feed_forward_length(_WIDTH)
    writer.add_head_count(2)
    writer.add_layer_norm_rms_eps(1e-5)

    def add(name: str, kind: str) -> None:
        stored = GGMLQuantizationType[kind]
        shape = quant_shape_to_byte_shape((_WIDTH, _WIDTH), stored)
        writer.add_tensor(name, np.zeros(shape, np.uint8), raw_dtype=stored)

    add("token_embd.weight", "Q8_0")
    add("output.weight", "Q6_K")
    writer.add_tensor("output_norm.weight", np.ones(_WIDTH, np.float32))
    for block, kind in enumerate(_TYPES):
        for part in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
            add(f"blk.{block}.{part}.weight", kind)
        for norm in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{block}.{norm}.weight", np.ones(_WIDTH, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main(arguments: Sequence[str]) -> None:
    """Load the smallest model and run one row, then many: different kernels."""
    from foredraft.targets.llama import OUTPUTS, PAGE, Context, Model, kv_type

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "probe.gguf"
        write_model(path)
        model = Model(path, repack="repack" in arguments)
        context = Context(
            model, "probe", cells=PAGE, sequences=1, threads=1, kv_type=kv_type("f16")
        )
        begin = 0
        for rows in (1, 4, OUTPUTS):
            context.run([1] * rows, range(begin, begin + rows), [[0]] * rows, logits=True)
            begin += rows


if __name__ == "__main__":
    main(sys.argv[1:])
