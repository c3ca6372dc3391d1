"""The READMEs quote the stored results and nothing else."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_the_readme_tables_are_those_of_the_stored_results():
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks/table.py"), "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
