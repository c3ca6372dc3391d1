from pathlib import Path

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.rivals.prompts import Sample, read_samples
from tests.cli.parrot import ANSWER, Bytes


def test_eight_prompts_come_with_the_package() -> None:
    samples = read_samples()
    assert len(samples) == 8
    assert {"copy", "code", "explain", "free"} == {sample.kind for sample in samples}


def test_own_prompts_in_every_form(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(
        '{"id": "a", "kind": "chat", "messages": [{"role": "user", "content": "Hi"}]}\n'
        '\n{"prompt": "Ho"}\n"Hu"\n'
    )
    first, second, third = read_samples(file)
    assert (first.id, first.kind, first.messages[0]["content"]) == ("a", "chat", "Hi")
    assert [second.messages[0]["content"], third.messages[0]["content"]] == ["Ho", "Hu"]
    file.write_text("One line.\nAnother.\n")
    assert [s.messages[0]["content"] for s in read_samples(file)] == ["One line.", "Another."]


def test_a_model_without_a_chat_template_gets_the_bare_text() -> None:
    sample = Sample("a", "chat", [{"role": "user", "content": c} for c in ("Hi", "Ho")])
    assert bytes(sample.tokens(Bytes(has_template=False))) == b"Hi\n\nHo"
    assert sample.tokens(Bytes())[-1] == ANSWER


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "holds no prompt"),
        ("{", "Line 1 of .* is not JSON"),
        ('{"prompt": 3}', "Line 1 of .* has neither"),
        ('"a"\n[1]', "Line 2 of .* has neither"),
        ('{"messages": "abc"}', "has neither"),
        ('{"id": 1, "prompt": "a"}\n{"id": "1", "prompt": "b"}', "several prompts with the id '1'"),
    ],
)
def test_other_files_are_refused_in_a_sentence(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(content)
    with pytest.raises(ForedraftError, match=said):
        read_samples(file)
