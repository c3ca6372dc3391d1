"""From a name to a GGUF target: weights, tokenizer, threads and room for the context."""

import os
from pathlib import Path

from foredraft.core.errors import ForedraftError
from foredraft.targets.base import Progress
from foredraft.targets.engines import Placement
from foredraft.targets.gguf import GGUFTarget
from foredraft.targets.gguf_file import GGUFFile
from foredraft.targets.llama import Model, offloads
from foredraft.targets.llama_probe import repacking_works
from foredraft.targets.source import fetch, resolve
from foredraft.targets.tokenizer import Tokenizer


def load_gguf(name: str, placement: Placement, progress: Progress | None = None) -> GGUFTarget:
    """The target for a GGUF file, a known name or org/name/file.gguf, at its own quantization.

    Raises ForedraftError with one sentence for whatever cannot be found, read or placed.
    """
    report = progress or (lambda what, done, total: None)
    layers = _gpu_layers(placement.gpu_layers)
    path = fetch(resolve(name), report)
    file = GGUFFile(path)
    repack = repacking_works()
    size = path.stat().st_size
    model = Model(
        path,
        gpu_layers=layers,
        repack=repack,
        progress=lambda share: report(f"Loading {name}", int(share * size), size),
    )
    if not model.continues_text:
        raise ForedraftError(
            f"{path} is of architecture {file.architecture!r}, which does not continue text; name "
            "a causal language model."
        )
    return GGUFTarget(
        model,
        Tokenizer.from_gguf(file),
        name,
        context=_context(name, model, placement),
        threads=placement.threads or _cores(),
        kv=placement.kv_type or "f16",
    )


def _gpu_layers(asked: int | None) -> int:
    if asked and not offloads():
        raise ForedraftError(
            f"--gpu-layers is {asked}, but this llama-cpp-python was built for the processor only; "
            "install it again with CMAKE_ARGS=-DGGML_CUDA=on (or GGML_METAL, GGML_VULKAN)."
        )
    return -1 if asked is None else asked


def _context(name: str, model: Model, placement: Placement) -> int:
    if placement.context is None:
        return min(model.context, placement.longest)
    if placement.context > model.context:
        raise ForedraftError(
            f"--context is {placement.context}, more than the {model.context} tokens {name} was "
            "made for; use a smaller one."
        )
    return placement.context


def _cores() -> int:
    """Physical cores this process may use: two threads on one core only wait for each other."""
    usable = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
    places = (Path(f"/sys/devices/system/cpu/cpu{n}/topology/thread_siblings_list") for n in usable)
    cores = {place.read_text() for place in places if place.is_file()}
    return len(cores) or os.cpu_count() or 1
