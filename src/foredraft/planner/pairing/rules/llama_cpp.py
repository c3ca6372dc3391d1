"""llama.cpp's rule: GGUF files whose vocabularies agree, and the drafting method named."""

import shlex
from pathlib import Path

from foredraft.heads.kind import HeadKind
from foredraft.planner.facts.model import Format, ModelFacts
from foredraft.planner.pairing.rules.llama_vocab import refusal, unshared
from foredraft.planner.pairing.ruling import (
    SAME_FAMILY,
    Pair,
    Ruling,
    listed,
    no,
    with_setting,
)

TYPES = {
    HeadKind.EAGLE3: "draft-eagle3",
    HeadKind.MTP: "draft-mtp",
    HeadKind.DFLASH: "draft-dflash",
    HeadKind.DSPARK: "draft-dspark",
}
_CONVERT = "Convert {} to GGUF with llama.cpp's convert_hf_to_gguf.py{}, or find it as GGUF. "


def rule(pair: Pair) -> Ruling:
    """What llama-server does with `-m TARGET -md DRAFT`."""
    if pair.draft.head:
        return _head(pair, pair.draft.head)
    if difference := refusal(pair.target, pair.draft):
        return no(
            f"{difference} llama-server would say that the vocabularies are not compatible and go "
            "on without a draft.",
            SAME_FAMILY,
        )
    others = pair.others(Format.GGUF)
    return with_setting(
        "The vocabularies pass its checks, but `-md` alone starts no speculation."
        + _danger(pair)
        + (f" It reads GGUF only, which {listed(others, 'is', 'are')} not." if others else "")
        + (_CHECKPOINTS if pair.target.keeps_state else ""),
        (_CONVERT.format(listed(others), "") if others else "") + command(pair, "draft-simple"),
    )


_CHECKPOINTS = (
    " The target keeps a recurrent state: each partly refused draft is restored from a checkpoint "
    "and costs one more target pass."
)


def command(pair: Pair, kind: str) -> str:
    """The llama-server command that drafts."""
    return f"llama-server -m {_file(pair.target)} -md {_file(pair.draft)} --spec-type {kind}"


def _danger(pair: Pair) -> str:
    """Both models read what the other writes, and neither id is looked at before."""
    assert pair.target.vocabulary is not None
    assert pair.draft.vocabulary is not None
    count = unshared(pair.target.vocabulary, pair.draft.vocabulary)
    if not count:
        return ""
    return f" {count:,} tokens are in one of them only, and llama-server aborts where one comes up."


def _head(pair: Pair, head: HeadKind) -> Ruling:
    if head not in TYPES:
        return no(f"llama.cpp runs EAGLE-3, MTP, DFlash and DSpark heads, not {head}.", SAME_FAMILY)
    others = pair.others(Format.GGUF)
    extra = f" (the head with --target-model-dir {pair.target.name})"
    return with_setting(
        f"It runs {head} heads, and does not check that this one belongs to this target.",
        (_CONVERT.format(listed(others), extra) if others else "") + command(pair, TYPES[head]),
    )


def _file(model: ModelFacts) -> str:
    """What to call the model's file in a command; one still to be fetched or made is a guess."""
    if model.format is Format.GGUF and Path(model.where).exists():
        return shlex.quote(model.where)
    name = model.where.rstrip("/").rpartition("/")[2].partition("?")[0]
    return shlex.quote(f"{name.removesuffix('.gguf')}.gguf")
