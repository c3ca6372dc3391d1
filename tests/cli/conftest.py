"""The command line called in process."""

import io
import sys
from types import SimpleNamespace

import pytest

from foredraft.cli.main import main
from tests.cli.parrot import loader


@pytest.fixture
def parrot(monkeypatch):
    """Put the parrot in the place of every model; call it to change the parrot."""

    def put(**changes):
        monkeypatch.setattr("foredraft.cli.options.load", loader(**changes))

    put()
    return put


@pytest.fixture
def call(monkeypatch, capsys):
    """foredraft with arguments and standard input → its status, output and errors."""

    def foredraft(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = main(arguments)
        out, err = capsys.readouterr()
        return SimpleNamespace(status=status, out=out, err=err)

    return foredraft


@pytest.fixture
def refuse(call):
    """Assert that a call is refused as every mistake is: status 2, and one sentence on stderr."""

    def check(*arguments, stdin=b"", says=""):
        done = call(*arguments, stdin=stdin)
        assert (done.status, done.out) == (2, "")
        assert done.err.startswith("foredraft: ")
        assert done.err.count("\n") == 1
        assert says in done.err
        return done.err

    return check
