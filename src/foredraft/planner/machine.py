"""What machine this is, in a line: a plan holds for no other."""

import os
import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from foredraft import __version__


def machine() -> str:
    """The processor, its threads, and the system."""
    return f"{_processor()}, {os.cpu_count()} threads, {platform.system()}"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def versions(engine: str) -> str:
    """The versions of foredraft, Python, and an engine's packages, in a line."""
    packages = {"torch": ("torch", "transformers"), "llama.cpp": ("llama-cpp-python",)}
    found = [f"foredraft {__version__}", f"Python {platform.python_version()}"]
    for name in packages.get(engine, ()):
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    return ", ".join(found)
