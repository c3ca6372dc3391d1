"""A model's tokenizer: text and chats to ids and back, and where the model ends a turn."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from foredraft.core.errors import ForedraftError
from foredraft.targets.base import TextCodec
from foredraft.targets.gguf_file import GGUFFile
from foredraft.targets.pieces import differing, is_padding, speller
from foredraft.targets.quiet import first_line, quiet

# A GGUF has no generation config, so ends of turn are known by name, as in llama.cpp.
_ENDS = {
    *("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<end_of_turn>", "<|end_of_turn|>"),
    *("<|endoftext|>", "<|end_of_text|>", "<EOT>"),
}


class Tokenizer:
    """A thin wrapper of a Transformers tokenizer; `ends` are end-of-turn ids it does not know."""

    def __init__(self, hf: Any, ends: Iterable[int] = ()) -> None:
        self._hf = hf
        own = () if hf.eos_token_id is None else (int(hf.eos_token_id),)
        self.eos_ids = frozenset((*own, *ends))

    @classmethod
    def from_gguf(cls, file: GGUFFile) -> Self:
        """The tokenizer and the chat template inside a GGUF file."""
        from tokenizers import pre_tokenizers
        from transformers import PreTrainedTokenizerFast

        if "tokenizer.ggml.tokens" not in file.fields:
            raise ForedraftError(
                f"{file.path} has no tokenizer inside, so it cannot be prompted; use a file "
                "converted together with its tokenizer."
            )
        try:
            # AutoTokenizer gives the same, but reads the header with a far slower reader first.
            with quiet():
                hf = PreTrainedTokenizerFast.from_pretrained(
                    str(file.path.parent), gguf_file=file.path.name
                )
        except Exception as error:
            raise ForedraftError(
                f"{file.path} has a tokenizer that cannot be read ({first_line(error)}); use the "
                "model's Hugging Face folder instead."
            ) from error
        if file.fields.get("tokenizer.ggml.pre") == "smollm":
            # Transformers does not know this name and would leave runs of digits together.
            hf.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
                [pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
            )
        tokens = file.fields["tokenizer.ggml.tokens"]
        stated = (file.fields.get(f"tokenizer.ggml.{kind}_token_id") for kind in ("eot", "eom"))
        named = (i for i, token in enumerate(tokens) if token in _ENDS)
        return cls(hf, (*(i for i in stated if i is not None), *named))

    @classmethod
    def from_folder(cls, folder: Path) -> Self:
        """The tokenizer of a Transformers model folder; no code from the folder is run."""
        from transformers import AutoTokenizer

        try:
            with quiet():
                hf = AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False)
        except Exception as error:
            raise ForedraftError(
                f"{folder} has no tokenizer that can be read ({first_line(error)}); it needs "
                "tokenizer.json and tokenizer_config.json."
            ) from error
        if set(hf.get_vocab().values()) <= set(hf.all_special_ids):
            # Without files Transformers makes a tokenizer up that reads every text as nothing.
            raise ForedraftError(
                f"{folder} has no tokenizer; it needs tokenizer.json and tokenizer_config.json."
            )
        return cls(hf, _folder_ends(folder))

    def save(self, folder: Path) -> None:
        """Write it as the tokenizer of a Transformers folder; `ends` are the model's to keep."""
        self._hf.save_pretrained(str(folder))

    @cached_property
    def vocab_size(self) -> int:
        """One more than the largest id the tokenizer makes; a model may have padding rows above."""
        vocabulary: dict[str, int] = self._hf.get_vocab()
        return max(vocabulary.values()) + 1

    @property
    def has_template(self) -> bool:
        """Whether `chat` works; base models come without a chat template."""
        return bool(self._hf.chat_template)

    @property
    def template(self) -> str:
        """The chat template's own text; where there are several, that for tools."""
        found = self._hf.chat_template or ""
        if isinstance(found, dict):
            found = found.get("tool_use") or found.get("default") or ""
        return str(found)

    def to_json(self) -> str:
        """The tokenizer as a tokenizer.json holds it."""
        made: str = self._hf.backend_tokenizer.to_str()
        return made

    def encode(self, text: str) -> list[int]:
        """Raw text as the model expects it, with BOS where the model wants one."""
        ids: list[int] = self._hf(text, verbose=False)["input_ids"]
        return ids

    def spell(self, text: str) -> list[int]:
        """The ids of `text` alone, without BOS; the name of a special token is mere text."""
        ids: list[int] = self._hf(
            text, add_special_tokens=False, split_special_tokens=True, verbose=False
        )["input_ids"]
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids` without special tokens."""
        text: str = self._hf.decode(
            list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text

    def spelling(self, token: int) -> bytes:
        """The bytes one token stands for, special tokens by name; none for padding."""
        return (self._pieces[token] or b"") if token < len(self._pieces) else b""

    def piece(self, token: int) -> str:
        """What one token stands for, special tokens by name; part of a character shows as �."""
        return self.spelling(token).decode("utf-8", errors="replace")

    def chat(self, messages: Sequence[Mapping[str, str]], **options: object) -> list[int]:
        """The chat template's ids, ending where the model's answer begins.

        `options` go to the template (Qwen3 knows `enable_thinking`).
        """
        if not self.has_template:
            raise ForedraftError(
                "This model has no chat template (it is a base model, or the template was left "
                "out); give it plain text to continue instead of messages."
            )
        try:
            made = self._hf.apply_chat_template(
                [dict(message) for message in messages],
                add_generation_prompt=True,
                tokenize=True,
                return_dict=True,
                **options,
            )
        except Exception as error:  # templates refuse messages with exceptions of their own
            raise ForedraftError(
                f"The model's chat template refuses these messages ({first_line(error)}); each "
                "needs a 'role' and a 'content' the template knows."
            ) from error
        ids: list[int] = made["input_ids"]
        return ids

    def same_as(self, other: TextCodec) -> str | None:
        """None if every id both know stands for the same bytes, else a sentence that says how not.

        Only ids below both vocabulary sizes are compared, and padding entries are passed over.
        """
        if not isinstance(other, Tokenizer):
            return "The tokenizers differ: they are of different kinds."
        different = differing(self._pieces, other._pieces)
        if not different:
            return None
        first, shared = different[0], min(len(self._pieces), len(other._pieces))
        return (
            f"The tokenizers differ: token {first} is {self.piece(first)!r} in one and "
            f"{other.piece(first)!r} in the other, and {len(different):,} of {shared:,} shared "
            "ids stand for other text."
        )

    @cached_property
    def special_ids(self) -> frozenset[int]:
        """Tokens that `decode` leaves out: they steer the model and are no text."""
        added = self._hf.added_tokens_decoder.items()
        return frozenset(i for i, token in added if token.special)

    @cached_property
    def _pieces(self) -> list[bytes | None]:
        """The bytes each id stands for, None for padding entries and holes."""
        added = {i: token.content for i, token in self._hf.added_tokens_decoder.items()}
        spell = speller("ByteLevel" in repr(self._hf.backend_tokenizer.decoder))
        pieces: list[bytes | None] = [None] * self.vocab_size
        for token, i in self._hf.get_vocab().items():
            if i in added:
                pieces[i] = added[i].encode()
            elif not is_padding(token):
                pieces[i] = spell(token)
        return pieces


def _folder_ends(folder: Path) -> tuple[int, ...]:
    """End ids of generation_config.json, or of config.json where the former names none."""
    for name in ("generation_config.json", "config.json"):
        try:
            ends = json.loads((folder / name).read_text(encoding="utf-8")).get("eos_token_id")
        except (OSError, ValueError, AttributeError):
            continue
        if ends is not None:
            return tuple(ends) if isinstance(ends, list) else (int(ends),)
    return ()
