"""The tokenizer inside a GGUF header."""

from typing import Any

from foredraft.planner.facts.model import Vocabulary
from foredraft.planner.facts.turns import end_of_turn
from foredraft.targets.gguf_header import GGUFHeader
from foredraft.targets.pieces import is_padding, speller

_NORMAL, _CONTROL, _USER = 1, 3, 4
_BYTE_LEVEL = "gpt2"
_FIELDS = {"bos": "bos", "eos": "eos", "eot": "eot", "pad": "padding", "unk": "unknown"}
# What llama.cpp takes where a file does not say whether texts begin with BOS or end with EOS.
_BOS_KINDS = {"llama", "bert"}
_BOS_PRE = {
    *("llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"),
    *("jina-v5-nano", "tekken", "chameleon"),
}
_EOS_KINDS = {"t5"}


def vocabulary(header: GGUFHeader) -> Vocabulary | None:
    """None where the file has no tokens, as some heads."""

    def field(name: str, default: Any = None) -> Any:
        return header.fields.get(f"tokenizer.ggml.{name}", default)

    tokens: list[str] | None = field("tokens")
    if not tokens:
        return None
    kind, pre = str(field("model")), field("pre")
    spell = speller(kind == _BYTE_LEVEL)

    def piece(token: str, type_: int) -> bytes | None:
        if type_ in (_CONTROL, _USER):
            return token.encode()
        return None if is_padding(token) else spell(token)

    types = field("token_type") or [_NORMAL] * len(tokens)
    stated = {role: field(f"{name}_token_id") for role, name in _FIELDS.items()}
    roles = {role: i for role, i in stated.items() if isinstance(i, int)}
    if "eot" not in roles and (eot := end_of_turn(tokens)) is not None:
        roles["eot"] = eot
    merges = field("merges")
    bos = kind in _BOS_KINDS or pre in _BOS_PRE
    return Vocabulary(
        kind=kind,
        tokens=tuple(tokens),
        pieces=tuple(map(piece, tokens, types)),
        merges=None if merges is None else tuple(merges),
        roles=roles,
        # Gemma 4 gets a BOS whatever its file says.
        add_bos=bool(field("add_bos_token", bos)) or pre == "gemma4" or kind == "gemma4",
        add_eos=bool(field("add_eos_token", kind in _EOS_KINDS)),
        template=header.fields.get("tokenizer.chat_template"),
    )
