"""A person's data: read as it is meant, refused with the line that is wrong."""

import json
from pathlib import Path

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.training.answers import Answering
from foredraft.training.data import Chat, data_jobs, read_data
from foredraft.training.prompts import Sieve
from tests.training.talkative import ASSISTANT, END, USER, Talkative

CODEC = Talkative()


def answering(*judges: str) -> Answering:
    return Answering(CODEC, Sieve(judges), 20, 512, 0)


def file(folder: Path, *lines: object) -> Path:
    path = folder / "data.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


def test_chats_prompts_and_texts(tmp_path: Path) -> None:
    user, reply = {"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}
    path = file(
        tmp_path,
        {"messages": [user, reply]},
        {"messages": [user, reply, user], "id": 3},
        {"prompt": "hello", "answer": "hi"},
        {"prompt": "hello"},
        {"text": "a text"},
    )
    assert read_data(path) == [
        Chat([user], "hi"),
        Chat([user, reply, user], None),
        Chat([user], "hi"),
        Chat([user], None),
        "a text",
    ]


def test_any_other_file_is_one_text(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text("It was\na dark night.\n")
    assert read_data(path) == ["It was\na dark night.\n"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"prompt": "a"}\n{"prompt": 3}', "Line 2 of .* has neither messages"),
        ('{"prompt": "a"}\n\n{"messages": []}', "Line 3 of .* has neither messages"),
        ('{"messages": [{"role": "user"}]}', "Line 1 of .* has neither messages"),
        ('{"prompt": "a"}\n{"prompt', "Line 2 of .* is not JSON"),
        (" \n", "is empty"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(content)
    with pytest.raises(ForedraftError, match=said):
        read_data(path)


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ForedraftError, match="cannot be read"):
        read_data(tmp_path / "none")


def test_chats_are_answered_anew_or_as_given() -> None:
    chat = Chat([{"role": "user", "content": "who is there"}], "a friend")
    prompt = [USER, *CODEC.encode("who is there"), END, ASSISTANT]
    (anew,) = data_jobs([chat], answering(), own_answers=True)
    assert (anew.prompt, anew.limit, anew.answer_from) == (prompt, 20, len(prompt))
    (given,) = data_jobs([chat], answering(), own_answers=False)
    assert given.prompt == prompt + CODEC.encode("a friend")
    assert (given.limit, given.answer_from) == (0, len(prompt))


def test_texts_are_read_in_pieces() -> None:
    text = "".join(chr(97 + i * i % 26) for i in range(1200))
    jobs = list(data_jobs([text, "short"], answering(), own_answers=True))
    assert [len(job.prompt) for job in jobs] == [512, 512, 176]
    assert all((job.limit, job.answer_from) == (0, 16) for job in jobs)


def test_what_is_judged_with_and_what_was_there_is_left_out() -> None:
    said = "write a letter about the garden behind the old house"
    chats = [Chat([{"role": "user", "content": text}], None) for text in (said, said, said[:-9])]
    assert len(list(data_jobs(chats, answering(), True))) == 2
    assert not list(data_jobs(chats, answering("Now " + said.upper()), True))
    assert len(list(data_jobs(chats, answering("write a letter about love"), True))) == 2


def test_a_prompt_that_leaves_no_room_is_left_out() -> None:
    long = Chat([{"role": "user", "content": "abcdefgh" * 64}], None)
    assert not list(data_jobs([long], answering(), True))
