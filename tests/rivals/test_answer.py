import pytest

from foredraft.rivals.answer import Reader, explained
from foredraft.rivals.counters import Counts
from tests.rivals.fake import chunk, saying
from tests.rivals.pages import LLAMA_TIMINGS, LM_STUDIO_STATS, VLLM_METRICS


def read(chunks, step=0.5):
    reader = Reader(sent=10.0)
    for number, item in enumerate(chunks, 1):
        if item != "[DONE]":
            reader.add(item, 10.0 + step * number)
    return reader.answer()


def test_what_came_and_when() -> None:
    answer = read([chunk(""), *saying("Hel", "lo ", "world", tokens=5)])
    assert answer.text == "Hello world"
    assert (answer.first_s, answer.decode_s, answer.gaps) == (1.0, 1.0, (0.5, 0.5))
    assert (answer.tokens, answer.finish_reason) == (5, "stop")
    assert answer.tokens_per_s == 4.0


def test_thoughts_are_text_too() -> None:
    thought = [
        {"choices": [{"delta": {name: "Hm. "}}]} for name in ("reasoning_content", "reasoning")
    ]
    assert read([*thought, *saying("Yes")]).text == "Hm. Hm. Yes"


def test_without_a_count_of_tokens_no_speed() -> None:
    answer = read([chunk("a"), chunk("b"), chunk(finish="length")])
    assert (answer.tokens, answer.tokens_per_s) == (None, None)


def test_an_answer_of_one_token_has_no_speed() -> None:
    assert read(saying("a")).tokens_per_s is None


def test_an_empty_answer() -> None:
    answer = read(saying(tokens=0))
    assert (answer.text, answer.first_s, answer.decode_s, answer.gaps) == ("", None, 0.0, ())


def test_llama_server_counts_tokens_in_its_timings_too() -> None:
    answer = read([chunk("a"), chunk("b", timings=LLAMA_TIMINGS), chunk(finish="length")])
    assert answer.tokens == 24
    assert answer.counts == Counts("llama-server timings", 26, 16)


@pytest.mark.parametrize(
    ("more", "source"),
    [
        ({"metrics": VLLM_METRICS}, "vLLM request metrics"),
        ({"stats": LM_STUDIO_STATS}, "LM Studio stats"),
    ],
)
def test_counters_of_the_last_chunk(more: dict, source: str) -> None:
    assert read(saying("a", "b", **more)).counts.source == source


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"choices": None, "usage": None},
        {"choices": [None]},
        {"choices": [{"delta": None, "finish_reason": 3}]},
        {"choices": [{"delta": {"content": ["a"]}}], "usage": {"completion_tokens": "5"}},
    ],
)
def test_odd_chunks_are_passed_over(odd: dict) -> None:
    assert read([odd, *saying("a", "b")]).text == "ab"


def test_a_whole_completion_with_its_tokens() -> None:
    tokens = [{"token": "a", "logprob": -0.1, "top_logprobs": []}]
    message = {"message": {"content": "a", "reasoning_content": "b"}}
    whole = {"choices": [message | {"logprobs": {"content": tokens}}]}
    assert (explained(whole).text, explained(whole).tokens) == ("ba", tokens)
    for odd in (None, {}, {"content": None}, {"content": ["a"]}):
        assert explained({"choices": [message | {"logprobs": odd}]}).tokens == ()
