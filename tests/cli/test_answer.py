"""Ctrl-C waits for a moment at which the engine's cache is whole, but only once."""

import signal

import pytest

from foredraft.cli.answer import Patience, answer
from foredraft.cli.show import Screen
from foredraft.engine.request import Request
from tests.cli.parrot import SAYS, loader


def test_ctrl_c_is_heard_at_the_next_check():
    before = signal.getsignal(signal.SIGINT)
    with Patience() as patience:
        patience.check()
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            patience.check()
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_ctrl_c_does_not_wait():
    with Patience():
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("moment", ["prefill", "score"])
def test_an_interrupted_answer_leaves_a_generator_that_works(monkeypatch, capsys, moment):
    generator, screen = loader()(), Screen()
    work = getattr(generator.target, moment)

    def interrupted(*given):
        signal.raise_signal(signal.SIGINT)
        return work(*given)

    with monkeypatch.context() as patch:
        patch.setattr(generator.target, moment, interrupted)
        result = answer(generator, [{"role": "user", "content": "hello"}], Request(), screen)
    assert result.finish_reason is None
    assert len(result.tokens) <= 1
    result = answer(generator, [{"role": "user", "content": "hello"}], Request(), screen)
    assert (result.text, result.finish_reason) == (SAYS, "eos")
