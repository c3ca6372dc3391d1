"""`foredraft chat` from a pipe; what it looks like on a terminal is in test_terminal."""

import json

import pytest

from foredraft.cli.chat import HELP
from tests.cli.parrot import SAYS, Parrot


@pytest.fixture
def prompts(monkeypatch):
    """The text of every prompt that was put to the model."""
    seen, chat = [], Parrot().tokenizer.__class__.chat

    def listen(self, messages):
        seen.append("\n".join(f"{m['role']}: {m['content']}" for m in messages))
        return chat(self, messages)

    monkeypatch.setattr("tests.cli.parrot.Bytes.chat", listen)
    return seen


def test_each_line_is_a_message(parrot, call):
    done = call("chat", stdin=b"hello\n\nagain")
    assert done.status == 0
    assert done.out == (SAYS + "\n") * 2
    assert done.err.count(" tok/s · ") == 2


def test_a_turn_sees_the_turns_before_it(parrot, call, prompts):
    call("chat", "--system", "be kind", stdin=b"hello\nagain\n")
    assert prompts == [
        "system: be kind\nuser: hello",
        f"system: be kind\nuser: hello\nassistant: {SAYS}\nuser: again",
    ]


def test_a_turn_reads_its_new_tokens_only(parrot, call, monkeypatch):
    read, prefill = [], Parrot.prefill

    def count(self, sequence, tokens, progress=None):
        before = self.read
        prefill(self, sequence, tokens, progress)
        if self.read > before:
            read.append(self.read - before)

    monkeypatch.setattr(Parrot, "prefill", count)
    call("chat", stdin=b"hello\nagain\n")
    # The parrot's chat template moves the sign for an answer, so the answer is read once more.
    assert read[0] == len("user: hello")
    assert sum(read[1:]) == len(f"\nassistant: {SAYS}\nuser: again".encode())


def test_reset_forgets(parrot, call, prompts):
    done = call("chat", stdin=b"hello\n/reset\nagain\n")
    assert prompts == ["user: hello", "user: again"]
    assert "The conversation begins anew." in done.err


def test_stats_say_where_the_last_answer_went(parrot, call):
    done = call("chat", stdin=b"/stats\nhello\n/stats\n")
    assert done.err.startswith("No answer yet.\n")
    assert "draft   30 tokens = 19 accepted + 4 rejected + 7 ignored\n" in done.err
    assert "α       0.83  0.80  1.00  1.00  0.50  by draft position\n" in done.err


def test_help_quit_and_what_is_no_command(parrot, call):
    done = call("chat", stdin=b"/help\n/frobnicate\n/etc/hosts\n/quit\nnever heard\n")
    assert HELP in done.err
    assert "/frobnicate is no command; /help lists them." in done.err
    assert done.out == SAYS + "\n"  # a message may begin with a slash


def test_json_is_one_line_an_answer(parrot, call):
    done = call("chat", "--json", stdin=b"hello\nagain\n")
    assert [json.loads(line)["text"] for line in done.out.splitlines()] == [SAYS, SAYS]
    assert done.err == ""


def test_a_full_context_is_refused_with_a_way_out(parrot, call):
    parrot(context=80)
    done = call("chat", stdin=b"hello\nagain\n")
    assert done.status == 2
    assert done.out == SAYS + "\n"
    assert done.err.splitlines()[-1] == (
        "foredraft: The conversation has 91 tokens with this message, and parrot has a context of "
        "80; say less, or begin anew with /reset."
    )


def test_an_answer_that_fills_the_context_says_so(parrot, call):
    parrot(context=30)
    assert "18 tokens (the context is full)" in call("chat", stdin=b"hello\n").err


def test_a_model_without_a_chat_template_cannot_chat(parrot, refuse):
    parrot(has_template=False)
    refuse("chat", says="parrot has no chat template; use `foredraft run --raw` with it.")


def test_bad_standard_input(parrot, refuse):
    refuse("chat", stdin=b"\xff\n", says="Standard input is not UTF-8")


def test_settings_are_checked_first(refuse, monkeypatch):
    monkeypatch.setattr("foredraft.cli.options.load", None)
    refuse("chat", "--temperature", "-1", says="temperature is -1.0")
