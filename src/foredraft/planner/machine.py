"""What machine this is, in a line: a plan holds for no other."""

import os
import platform
from pathlib import Path


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
