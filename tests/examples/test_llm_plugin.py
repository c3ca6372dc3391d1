"""examples/llm_plugin.sh, with the `llm` command that is installed beside this Python."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.examples.conftest import EXAMPLES


@pytest.fixture
def entry_point(tmp_path):
    """A folder that gives this checkout's plug-in to `llm`, installed or not."""
    project = tomllib.loads((EXAMPLES.parent / "pyproject.toml").read_text())["project"]
    points = project["entry-points"]["llm"]
    info = tmp_path / "site" / "foredraft_here-0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: foredraft-here\nVersion: 0\n")
    lines = [f"{name} = {module}" for name, module in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[llm]", *lines]))
    return info.parent


def run(model, entry_point, tmp_path):
    path = [str(entry_point), str(EXAMPLES.parent / "src"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {
        "LLM_USER_PATH": str(tmp_path / "llm"),
        "PYTHONPATH": os.pathsep.join(path),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    script = str(EXAMPLES / "llm_plugin.sh")
    done = subprocess.run(["sh", script, model], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_it_answers_twice_and_shows_the_usage(folder, entry_point, tmp_path):
    done = run(str(folder), entry_point, tmp_path)
    assert len(done.stdout.splitlines()) >= 2
    assert "Token usage:" in done.stderr
    assert '"acceptance_rate"' in done.stderr
