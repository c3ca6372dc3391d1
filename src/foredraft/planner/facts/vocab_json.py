"""A tokenizer.json and what stands beside it, as a vocabulary."""

from collections.abc import Mapping
from typing import Any

from foredraft.planner.facts.model import Vocabulary
from foredraft.planner.facts.turns import end_of_turn
from foredraft.targets.pieces import is_padding, speller

_KINDS = {"Unigram": "t5", "WordPiece": "bert", "WordLevel": "words"}


def vocabulary(
    tokenizer: Mapping[str, Any],
    settings: Mapping[str, Any],
    config: Mapping[str, Any],
    template: str | None,
) -> Vocabulary:
    """`settings` is tokenizer_config.json, `config` the model's own, `template` a file beside it.

    Raises KeyError, TypeError, ValueError or AttributeError for what is no tokenizer.json.
    """
    model = tokenizer["model"]
    listed = model["vocab"]
    ids = {entry[0]: i for i, entry in enumerate(listed)} if isinstance(listed, list) else listed
    added = {int(entry["id"]): str(entry["content"]) for entry in tokenizer.get("added_tokens", ())}
    tokens: list[str | None] = [None] * (1 + max(*ids.values(), *added, -1))
    for text, i in ids.items():
        tokens[i] = text
    for i, text in added.items():
        tokens[i] = text
    byte_level = "ByteLevel" in str(tokenizer.get("decoder"))
    spell = speller(byte_level)
    merges = model.get("merges")
    where = {text: i for i, text in enumerate(tokens) if text is not None}
    return Vocabulary(
        kind=_kind(str(model.get("type", "BPE")), byte_level),
        tokens=tuple(tokens),
        pieces=tuple(_piece(text, i in added, spell) for i, text in enumerate(tokens)),
        merges=None if merges is None else tuple(map(_merge, merges)),
        roles=_roles(where, settings, config, end_of_turn(tokens)),
        add_bos=_adds(tokenizer, settings, "bos"),
        add_eos=_adds(tokenizer, settings, "eos"),
        template=template or _template(settings.get("chat_template")),
    )


def _kind(model: str, byte_level: bool) -> str:
    if model == "BPE":
        return "gpt2" if byte_level else "llama"
    return _KINDS.get(model, model)


def _piece(text: str | None, is_added: bool, spell: Any) -> bytes | None:
    if text is None or (is_padding(text) and not is_added):
        return None
    piece: bytes = text.encode() if is_added else spell(text)
    return piece


def _merge(pair: str | list[str]) -> str:
    return pair if isinstance(pair, str) else " ".join(pair)


def _roles(
    where: Mapping[str, int],
    settings: Mapping[str, Any],
    config: Mapping[str, Any],
    eot: int | None,
) -> dict[str, int]:
    """A role's token by its text, or by the id in the model's configuration."""
    roles = {}
    for role in ("bos", "eos", "pad", "unk"):
        token = settings.get(f"{role}_token")
        text = token.get("content") if isinstance(token, Mapping) else token
        i = where.get(str(text)) if text is not None else config.get(f"{role}_token_id")
        if isinstance(i, list):  # several ends; the first is the main one
            i = next(iter(i), None)
        if isinstance(i, int):
            roles[role] = i
    return roles if eot is None else roles | {"eot": eot}


def _adds(tokenizer: Mapping[str, Any], settings: Mapping[str, Any], role: str) -> bool:
    """Whether encoding a text puts the role's token at its edge."""
    stated = settings.get(f"add_{role}_token")
    if stated is not None:
        return bool(stated)
    processor = tokenizer.get("post_processor") or {}
    steps = processor.get("processors", [processor])
    single: list[Any] = next((step["single"] for step in steps if step.get("single")), [])
    edge = single[0 if role == "bos" else -1] if len(single) > 1 else {}
    return "SpecialToken" in edge


def _template(given: Any) -> str | None:
    """The default template of one or of several."""
    if isinstance(given, list):
        named = {str(entry.get("name")): entry.get("template") for entry in given}
        given = named.get("default")
    return given if isinstance(given, str) else None
