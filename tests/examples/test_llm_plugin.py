"""examples/llm_plugin.sh, with the `llm` command that is installed beside this Python."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.parrot import SAYS
from tests.examples.conftest import EXAMPLES

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")


@pytest.fixture
def run(tmp_path):
    """Run the example with the plug-in in a module, whether or not foredraft is installed."""

    def example(module, *arguments):
        info = tmp_path / "foredraft_example-0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: foredraft-example\nVersion: 0")
        (info / "entry_points.txt").write_text(f"[llm]\nforedraft = {module}")
        root = EXAMPLES.parent
        environment = os.environ | {
            "LLM_USER_PATH": str(tmp_path / "llm"),
            "PYTHONPATH": os.pathsep.join(map(str, (tmp_path, root / "src", root))),
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
        }
        script = ["sh", str(EXAMPLES / "llm_plugin.sh"), *arguments]
        done = subprocess.run(script, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert '"acceptance_rate"' in done.stderr, "--usage shows what speculation did"
        return done.stdout

    return example


def test_it_asks_twice(run):
    shortened = SAYS.encode()[:30].decode()
    assert run("tests.examples.parrot_plugin", "polly") == f"{SAYS}\n{shortened}\n"


@pytest.mark.slow
def test_smollm2_answers(run):
    assert "The tide comes in twice a day" in run("foredraft.llm_plugin")
