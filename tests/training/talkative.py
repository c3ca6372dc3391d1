"""A tokenizer with a chat template, so that tiny random models ask and answer."""

from collections.abc import Sequence

from tests.tiny import Characters

USER, ASSISTANT, END = 29, 30, 31


class Talkative(Characters):
    """A turn is a user's or an assistant's token, the text, and the end."""

    template = "a template"

    def encode(self, text: str) -> list[int]:
        return [self.letters.index(c) for c in text.lower() if c in self.letters[:28]]

    spell = encode

    def chat(self, messages: Sequence[dict[str, str]], **options: object) -> list[int]:
        ids: list[int] = []
        for message in messages:
            begin = USER if message["role"] == "user" else ASSISTANT
            ids += [begin, *self.encode(message["content"]), END]
        return [*ids, ASSISTANT]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(self.letters[i] for i in ids if i < 28)
