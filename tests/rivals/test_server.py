import pytest

from foredraft.core.errors import ForedraftError
from foredraft.rivals.server import Answer, Server
from tests.rivals.fake_server import completion, serving

HELLO = [{"role": "user", "content": "hello"}]


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
def test_what_is_asked_and_answered(ending: str) -> None:
    heard = []

    def answer(body: dict[str, object]) -> dict[str, object]:
        heard.append(body)
        return completion("hi", 2, "stop")

    with serving(answer) as url:
        assert Server(url + ending).ask(HELLO, 5, 0.5, 7) == Answer("hi", 2, True)
    assert heard == [
        {
            "model": "tiny",
            "messages": HELLO,
            "max_tokens": 5,
            "temperature": 0.5,
            "seed": 7,
            "top_p": 1.0,
            "top_k": 0,
            "min_p": 0.0,
        }
    ]


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "nonsense", "file:///etc/hosts"])
def test_no_server_is_one_sentence(url: str) -> None:
    with pytest.raises(ForedraftError, match="gives no answer"):
        Server(url)


def test_a_server_without_a_model() -> None:
    with (
        serving(lambda body: None, models={"data": []}) as url,
        pytest.raises(ForedraftError, match="names no model"),
    ):
        Server(url)


@pytest.mark.parametrize("made", [{}, {"choices": []}, [], {"choices": [{"message": {}}]}], ids=str)
def test_an_answer_of_another_kind(made: object) -> None:
    with serving(lambda body: made) as url:
        server = Server(url)
        with pytest.raises(ForedraftError, match="does not answer as an OpenAI-compatible"):
            server.ask(HELLO, 5, 0, 0)
