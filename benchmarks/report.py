"""What every benchmark result must say about itself, and where it is kept."""

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def machine() -> dict[str, Any]:
    """Processor, cores, the vector units that matter here, and the versions that ran."""
    model, flags = platform.processor(), ""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        fields = dict(
            line.split(":", 1) for line in cpuinfo.read_text().splitlines() if ":" in line
        )
        found = {key.strip(): value.strip() for key, value in fields.items()}
        model, flags = found.get("model name", model), found.get("flags", "")
    units = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "vector_units": [unit for unit in units if unit in flags.split()],
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("torch", "transformers", "numpy")},
    }


def commit() -> str:
    """The commit measured, with "+" when the tree had changes of its own."""
    root = Path(__file__).parent
    run = lambda *a: subprocess.run(a, cwd=root, capture_output=True, text=True).stdout.strip()  # noqa: E731
    dirty = run("git", "status", "--porcelain", "--", "../src")
    return run("git", "rev-parse", "--short", "HEAD") + ("+" if dirty else "")


def publish(name: str, result: dict[str, Any], show: bool = True) -> None:
    """Keep the result in results/NAME.json, and print it as one JSON line if `show`."""
    result = {"benchmark": name, "date": datetime.now(UTC).date().isoformat()} | result
    result |= {"machine": machine(), "commit": commit()}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    if show:
        print(json.dumps(result, ensure_ascii=False))
