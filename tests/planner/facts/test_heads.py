"""Heads in GGUF files, and heads that cannot be a target's."""

from foredraft.heads.kind import HeadKind
from foredraft.planner.facts.heads import head_of_gguf, misfit
from foredraft.targets.gguf_header import GGUFHeader
from tests.planner.facts.models import facts


def gguf(arch, *tensors):
    return GGUFHeader({"general.architecture": arch}, dict.fromkeys(tensors))


def test_gguf():
    whole, nextn = "blk.0.attn_norm.weight", "blk.4.nextn.eh_proj.weight"
    assert head_of_gguf(gguf("qwen35", whole)) is None
    assert head_of_gguf(gguf("qwen35", whole, nextn)) is None
    assert head_of_gguf(gguf("qwen35", nextn)) is HeadKind.MTP
    assert head_of_gguf(gguf("eagle3")) is HeadKind.EAGLE3
    assert head_of_gguf(gguf("dflash")) is HeadKind.DFLASH
    assert head_of_gguf(gguf("dflash", "markov_w1.weight")) is HeadKind.DSPARK
    assert head_of_gguf(gguf("gemma4-assistant", whole)) is HeadKind.MTP


def test_only_sizes_that_are_known_can_misfit():
    head = facts("head", head=HeadKind.EAGLE3, hidden_size=None, vocab_size=None)
    assert misfit(facts(), head) is None
    assert misfit(facts(), facts("head", head=HeadKind.EAGLE3)) is None
    assert "vocabulary size 9, not 300" in misfit(facts(), facts("head", vocab_size=9))
