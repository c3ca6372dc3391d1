import pytest

from foredraft.planner.lint.source import flags, nested, number, objects, settings_of, words

SHELL = """
# --draft-max 99 is a comment
exec llama-server -m big.gguf \\
  --draft_max 16  # and so is --draft-min 3
"""
COMPOSE = """
services:
  llm:
    command: ["-m", "/m.gguf", "--draft-max", "16"]
    environment:
      LLAMA_ARG_DRAFT_MIN: 5
      - LLAMA_ARG_SPEC_TYPE=draft-simple
"""


def test_a_shell_script_is_read_as_the_shell_would() -> None:
    assert flags(SHELL).given == {"-m": "big.gguf", "--draft-max": "16"}


def test_lists_and_variables_of_a_compose_file_are_found() -> None:
    given = flags(COMPOSE).given
    assert given["--draft-max"] == "16"
    assert given["LLAMA_ARG_DRAFT_MIN"] == "5"
    assert given["LLAMA_ARG_SPEC_TYPE"] == "draft-simple"


def test_a_list_with_a_word_a_line() -> None:
    assert flags('- --draft-max\n- "16"\n').given == {"--draft-max": "16"}


def test_values_may_follow_an_equals_sign_or_be_negative() -> None:
    assert flags("x --a=1 -np -1 --switch").given == {"--a": "1", "-np": "-1", "--switch": ""}


def test_of_markdown_only_the_code_is_read() -> None:
    text = "> Not llama.cpp.\n\n```sh\nlms load a\n```\nor\n```python\nf()\n```\n"
    assert settings_of(text) == "lms load a\n\nf()\n"


def test_keys_under_a_name_of_yaml() -> None:
    text = "a-b:\n  \"c-d\": 4  # four\n  e: 'x'\nf: 1\n"
    assert nested(text, "a_b") == [{"c_d": 4, "e": "x"}]
    assert nested(text, "f") == []


def test_the_last_of_a_name_counts_and_the_first_of_its_aliases_is_shown() -> None:
    given = flags("--n 1 --n 2 -k 3")
    assert given.first("-k", "--n") == "-k 3"
    assert given.value("--n") == "2"
    assert given.number("--n", default=9) == 2
    assert given.number("--m", default=9) == 9


def test_an_apostrophe_in_prose_hides_nothing() -> None:
    assert "--draft-max" in words("it's llama-server --draft-max 16")


@pytest.mark.parametrize(
    "text",
    [
        """--config '{"method": "ngram", "deep": {"k": [1, 2]}}'""",
        '''--config "{\\"method\\": \\"ngram\\", \\"deep\\": {\\"k\\": [1, 2]}}"''',
        """LLM(config={'method': 'ngram', 'deep': {'k': [1, 2]}})""",
        '--config={"method": "ngram", "deep": {"k": [1, 2]}}',
    ],
)
def test_objects_are_found_however_they_are_quoted(text: str) -> None:
    assert objects(text) == [{"method": "ngram", "deep": {"k": [1, 2]}}]


def test_what_is_no_object_is_passed_over() -> None:
    assert objects("if (x) { y } ${VARIABLE}") == []


@pytest.mark.parametrize("text", ['"temperature": 0.7', "temperature=0.7", "--temperature 0.7"])
def test_numbers_are_found_by_name(text: str) -> None:
    assert number(text, "temperature") == 0.7
    assert number(text, "top_p") is None
