"""Which engine runs a model, and where: PyTorch, or llama.cpp for a GGUF as it is."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from importlib.util import find_spec

from foredraft.core.errors import ForedraftError
from foredraft.targets.base import Progress, Target

TORCH, LLAMA = "torch", "llama.cpp"
ENGINES = ("auto", TORCH, LLAMA)
KV_TYPES = ("f16", "f32", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0")
LONGEST = 8192
"""The context unless another is asked for: llama.cpp makes room for all of it at the start."""


@dataclass(frozen=True, slots=True)
class Placement:
    """How models are to run; what is "auto" or None is left to us.

    `context` is llama.cpp's, by default the model's own but at most `longest`.
    """

    dtype: str = "auto"
    device: str = "auto"
    threads: int | None = None
    gpu_layers: int | None = None
    context: int | None = None
    kv_type: str | None = None
    longest: int = LONGEST

    def engine(self, name: str, asked: str = "auto") -> str:
        """The engine for a model.

        "auto" is llama.cpp for a GGUF if it is installed, unless a setting asks for what only
        PyTorch does; PyTorch for all else.
        """
        from foredraft.targets.source import resolve

        if asked not in ENGINES:
            raise ForedraftError(f"Unknown engine {asked!r}; choose one of {', '.join(ENGINES)}.")
        is_gguf = resolve(name).is_gguf
        if asked == LLAMA and not is_gguf:
            raise ForedraftError(
                f"{name} is no GGUF file, and llama.cpp runs nothing else; name a .gguf file or "
                "use --engine torch."
            )
        if asked != "auto":
            return asked
        wanted = (
            bool(self._set(TORCH)),
            bool(self._set(LLAMA)) or find_spec("llama_cpp") is not None,
        )
        return LLAMA if is_gguf and wanted == (False, True) else TORCH

    def check(self, engines: Collection[str]) -> None:
        """Refuse values out of range, and settings of an engine that runs nothing."""
        for name, value, least in (
            ("threads", self.threads, 1),
            ("context", self.context, 1),
            ("gpu_layers", self.gpu_layers, 0),
        ):
            if value is not None and value < least:
                raise ForedraftError(f"{name} is {value}; it must be {least} or more.")
        if self.kv_type is not None and self.kv_type not in KV_TYPES:
            raise ForedraftError(
                f"Unknown kv_type {self.kv_type!r}; choose one of {', '.join(KV_TYPES)}."
            )
        for engine, other in ((TORCH, LLAMA), (LLAMA, TORCH)):
            if engine not in engines and (options := self._set(engine)):
                raise ForedraftError(
                    f"{options[0]} is a setting of {engine}, and {other} runs here; leave it out "
                    f"or use --engine {engine}."
                )

    def load(self, name: str, engine: str, progress: Progress | None = None) -> Target:
        """The target for a name on an engine that `engine` chose."""
        if engine == LLAMA:
            if find_spec("llama_cpp") is None:
                raise ForedraftError(
                    f"{name} needs llama-cpp-python to run with llama.cpp, and it is not "
                    "installed; pip install 'foredraft[gguf]', or use --engine torch."
                )
            from foredraft.targets.gguf_load import load_gguf

            return load_gguf(name, self, progress)
        from foredraft.targets.torch_hf import load_target

        return load_target(name, self.dtype, self.device, self.threads, progress)

    def of_a_draft(self, target: Target) -> "Placement":
        """The same for a draft model: its context need not be as long as the one asked for."""
        return replace(self, context=None, longest=target.context)

    def _set(self, engine: str) -> list[str]:
        """The options given that only one engine has, by their names on the command line."""
        options = (
            {"--dtype": self.dtype != "auto", "--device": self.device != "auto"}
            if engine == TORCH
            else {
                "--gpu-layers": self.gpu_layers is not None,
                "--context": self.context is not None,
                "--kv-type": self.kv_type is not None,
            }
        )
        return [name for name, given in options.items() if given]
