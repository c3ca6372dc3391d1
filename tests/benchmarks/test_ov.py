"""An OpenVINO worker's answers are read rightly, and its death is one clear sentence."""

import sys

import pytest

from engines.base import EngineError
from engines.ov import Worker, read

ECHO = """
import sys
print('{"version": "0"}', flush=True)
for line in sys.stdin:
    print('{"heard": ' + line.strip() + '}', flush=True)
"""


def test_the_first_steps_tokens_belong_to_the_prompt():
    answer = {"ids": [1, 2, 3, 4], "rounds": [[0.5, 1], [0.6, 2], [0.7, 1]], "counts": {}}
    run = read(answer)
    assert run.first_s == 0.5
    assert run.decode_tokens == 3
    assert run.tokens_per_s == pytest.approx(15.0)
    assert run.tokens_per_pass == 1.5


def test_a_worker_answers_line_by_line():
    worker = Worker([sys.executable, "-c", ECHO], "int8 plain")
    assert worker.ask({"tokens": 1}) == {"heard": {"tokens": 1}}
    assert worker.ask({"tokens": 2}) == {"heard": {"tokens": 2}}
    worker.close()


def test_a_worker_that_ends_is_one_sentence_with_its_last_words():
    worker = Worker([sys.executable, "-c", "raise SystemExit('no such model')"], "int8 plain")
    with pytest.raises(EngineError, match=r"^OpenVINO \(int8 plain\) ended with code 1; its last"):
        worker.ask({})


def test_a_missing_environment_names_the_script_that_makes_it():
    with pytest.raises(EngineError, match=r"cannot be started .*openvino_models\.sh"):
        Worker(["/nowhere/python"], "int8 plain").ask({})
