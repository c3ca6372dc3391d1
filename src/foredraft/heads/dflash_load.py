"""A DFlash or DSpark head from its checkpoint, in the layout of z-lab and DeepSpec or of
speculators."""

from collections.abc import Callable

import torch

from foredraft.core.errors import ForedraftError
from foredraft.heads.block import Block, block_of, flat
from foredraft.heads.checkpoint import Checkpoint
from foredraft.heads.dflash import BlockNetwork, DFlashHead, Own
from foredraft.heads.dspark import MARKOVS, Correction, DSparkHead, DSparkNetwork
from foredraft.heads.shared import (
    Turned,
    check_sizes,
    check_taps,
    embeddings,
    output,
    text_config,
)
from foredraft.heads.vocabulary import DraftVocabulary
from foredraft.heads.weights import build, signature
from foredraft.targets.torch_hf import TorchTarget

_UNUSED = ("d2t", "t2d", "verifier_norm.", "verifier_lm_head.", "rotary_emb.", "confidence_head.")


def dflash_load(checkpoint: Checkpoint, target: TorchTarget) -> DFlashHead:
    """The head, beside the target it drafts for."""
    checkpoint = flat(checkpoint)
    block, own = _block(checkpoint, target, from_anchor=False), _own(checkpoint, target)
    size = text_config(target).hidden_size
    return _head(DFlashHead, lambda: BlockNetwork(block, size, own), checkpoint, target)


def dspark_load(checkpoint: Checkpoint, target: TorchTarget) -> DFlashHead:
    """The head, beside the target it drafts for; a DFlash head where its correction is off."""
    checkpoint = flat(checkpoint)
    block, own = _block(checkpoint, target, from_anchor=True), _own(checkpoint, target)
    size, correction = text_config(target).hidden_size, _correction(checkpoint, target, own)
    if correction is None:
        return _head(DFlashHead, lambda: BlockNetwork(block, size, own), checkpoint, target)
    return _head(
        DSparkHead, lambda: DSparkNetwork(block, size, own, correction), checkpoint, target
    )


def _head(
    kind: type[DFlashHead],
    make: Callable[[], BlockNetwork],
    checkpoint: Checkpoint,
    target: TorchTarget,
) -> DFlashHead:
    offsets = checkpoint.tensor("d2t") if "d2t" in checkpoint.shapes else None
    vocabulary = DraftVocabulary.of(target.vocab_size, offsets)
    network: BlockNetwork = build(make, checkpoint, target, _renamed(checkpoint), _UNUSED)
    embed = getattr(network, "embed_tokens", None) or embeddings(target)
    project = getattr(network, "lm_head", None) or output(target)
    return kind(
        network,
        _scaled(embed, network.block),
        _shaped(project, network.block),
        vocabulary,
        signature(checkpoint, target),
    )


def _renamed(checkpoint: Checkpoint) -> Callable[[str], str]:
    """The tensor of a parameter: Transformers' own names differ from z-lab's in two."""
    if "encoder.fc.weight" not in checkpoint.shapes:
        return str
    names = {
        "fc.weight": "encoder.fc.weight",
        "hidden_norm.weight": "encoder.output_norm_enc.weight",
    }
    return lambda name: names.get(name, name)


def _block(checkpoint: Checkpoint, target: TorchTarget, from_anchor: bool) -> Block:
    block = block_of(checkpoint, from_anchor, target.model.config._attn_implementation)
    check_sizes(checkpoint, target, block.layers.hidden_size)
    trained, layers = checkpoint.number("num_target_layers"), text_config(target).num_hidden_layers
    if trained not in (None, layers):
        raise ForedraftError(
            f"{checkpoint.phrase} was trained for a target of {trained} layers, and {target.name} "
            f"has {layers}; use a head made for this target."
        )
    check_taps(checkpoint, target, block.taps)
    if block.mask >= target.vocab_size:
        raise ForedraftError(
            f"{checkpoint.phrase} marks what is to be drafted by token {block.mask:,}, and "
            f"{target.name} has {target.vocab_size:,} tokens; use a head made for this target."
        )
    return block


def _own(checkpoint: Checkpoint, target: TorchTarget) -> Own:
    """A smaller vocabulary comes with an output matrix; the rest is there or the target's."""
    shapes = checkpoint.shapes
    rows = checkpoint.number("draft_vocab_size") or target.vocab_size
    if rows != target.vocab_size and shapes.get("d2t") != (rows,):
        raise ForedraftError(
            f"{checkpoint.phrase} drafts {rows:,} of the {target.vocab_size:,} tokens and lacks a "
            "vocabulary map d2t of as many entries, which says which; download it again."
        )
    return Own(
        target.vocab_size if "embed_tokens.weight" in shapes else None,
        rows if "lm_head.weight" in shapes or rows != target.vocab_size else None,
    )


def _correction(checkpoint: Checkpoint, target: TorchTarget, own: Own) -> Correction | None:
    kind = str(checkpoint.config.get("markov_head_type") or "vanilla")
    if kind not in MARKOVS:
        raise ForedraftError(
            f"{checkpoint.phrase} has a Markov head of the type {kind!r}; foredraft knows "
            f"{', '.join(MARKOVS)}."
        )
    rank = checkpoint.number("markov_rank")
    if rank == 0:
        return None
    rows = target.vocab_size if own.output is None else own.output
    return Correction(kind, target.vocab_size, rows, 256 if rank is None else rank)


def _scaled(embed: Turned, block: Block) -> Turned:
    return embed if block.embedding_scale == 1 else lambda ids: embed(ids) * block.embedding_scale


def _shaped(project: Turned, block: Block) -> Turned:
    """Logits as z-lab's newer drafts are trained for: scaled, then held within a cap."""

    def shaped(hidden: torch.Tensor) -> torch.Tensor:
        logits = project(hidden) * block.logit_scale
        cap = block.logit_cap
        return logits if cap is None else torch.tanh(logits / cap) * cap

    return shaped
