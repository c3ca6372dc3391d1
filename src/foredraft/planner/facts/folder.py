"""Facts of a Transformers folder: configurations, tokenizer, and the headers of its weights."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from foredraft.core.errors import ForedraftError
from foredraft.heads.checkpoint import refuse_pickles
from foredraft.heads.head_config import refuse_lossy, refuse_malformed
from foredraft.heads.kind import HeadKind, has_mtp, recognise
from foredraft.planner.facts.cache_config import layers, number
from foredraft.planner.facts.model import Format, ModelFacts, Vocabulary
from foredraft.planner.facts.vocab_json import vocabulary
from foredraft.targets.folder_config import read_config, refuse_other
from foredraft.targets.tensor_files import entries

_INDEX = "model.safetensors.index.json"


def facts(name: str, where: str, folder: Path, sizes: Mapping[str, int]) -> ModelFacts:
    """The facts of the model whose small files lie in `folder`; `sizes` are its tensors' bytes."""
    if not (folder / "config.json").is_file():
        raise ForedraftError(
            f"{name} has no config.json, so it is not a Transformers model; if it holds GGUF "
            "files, name one of them, as in org/name/file.gguf."
        )
    raw, index = _json(folder / "config.json"), _json(folder / _INDEX)
    tensors = sizes or index.get("weight_map", {})
    head = recognise(raw, tensors)
    if head:
        refuse_malformed(name, raw)
    config, known = _config(folder, raw, head)
    tokens = _vocabulary(name, folder, raw, needed=head is None)
    weights = sum(sizes.values()) or index.get("metadata", {}).get("total_size")
    width = number(config, "hidden_size", "n_embd")
    return ModelFacts(
        name=name,
        where=where,
        format=Format.TRANSFORMERS,
        architecture=str(getattr(config, "model_type", None) or "unknown"),
        known=known,
        vocab_size=number(config, "vocab_size") or (len(tokens.tokens) if tokens else None),
        hidden_size=(number(config, "target_hidden_size") if head else None) or width,
        context=number(config, "max_position_embeddings"),
        weights=weights,
        layers=layers(config),
        vocabulary=tokens,
        head=head,
        made_for=_made_for(raw),
        refused=_refused(name, folder, raw, tensors) if head else None,
        has_mtp=head is None and has_mtp(tensors),
    )


def tensor_sizes(folder: Path) -> dict[str, int]:
    """Bytes of each tensor in the folder's .safetensors files, by their headers."""
    return {name: entry.size for name, entry in entries(folder).items()}


def _config(folder: Path, raw: Mapping[str, Any], head: HeadKind | None) -> tuple[Any, bool]:
    """The configuration of what generates text, and whether Transformers knows such a model.

    A head's, and that of a model newer than the installed Transformers, is taken as it stands.
    """
    inner = raw.get("text_config") or raw.get("transformer_layer_config") or {}
    if head is None:
        try:
            config = read_config(folder)
        except ForedraftError:
            return SimpleNamespace(**(dict(raw) | inner)), False
        refuse_other(folder, config)
        return config.get_text_config(decoder=True), True
    return SimpleNamespace(**(dict(raw) | inner)), False


def _vocabulary(name: str, folder: Path, raw: Mapping[str, Any], needed: bool) -> Vocabulary | None:
    tokenizer = _json(folder / "tokenizer.json")
    if not tokenizer:
        if not needed:
            return None
        tokenizer = _converted(folder)
    template = folder / "chat_template.jinja"
    ends = _json(folder / "generation_config.json")
    text = raw.get("text_config") or {}
    try:
        return vocabulary(
            tokenizer,
            _json(folder / "tokenizer_config.json"),
            {**text, **raw, **ends},
            template.read_text(encoding="utf-8") if template.is_file() else None,
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ForedraftError(
            f"{name} has a tokenizer.json that cannot be read ({error!r}); download it again."
        ) from error


def _converted(folder: Path) -> dict[str, Any]:
    """Any other kind of tokenizer, as the tokenizer.json that Transformers makes of it."""
    from foredraft.targets.tokenizer import Tokenizer

    made: dict[str, Any] = json.loads(Tokenizer.from_folder(folder).to_json())
    return made


def _made_for(raw: Mapping[str, Any]) -> str | None:
    verifier = (raw.get("speculators_config") or {}).get("verifier") or {}
    named = verifier.get("name_or_path") if isinstance(verifier, dict) else None
    return named or raw.get("base_model_name_or_path")


def _refused(
    name: str, folder: Path, raw: Mapping[str, Any], tensors: Collection[str]
) -> str | None:
    try:
        refuse_lossy(name, raw)
        if not tensors:
            refuse_pickles(name, folder)
    except ForedraftError as error:
        return str(error)
    return None


def _json(path: Path) -> dict[str, Any]:
    """The object in a file; empty where there is no file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ForedraftError(
            f"{path} cannot be read ({error}); download the model again."
        ) from error
    if not isinstance(content, dict):
        raise ForedraftError(f"{path} holds no JSON object; download the model again.")
    return content
