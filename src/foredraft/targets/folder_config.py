"""The configuration of a Transformers model folder; no code from the folder is run."""

from pathlib import Path
from typing import Any

from foredraft.core.errors import ForedraftError
from foredraft.targets.quiet import first_line, quiet


def config_of(folder: Path) -> Any:
    """The folder's configuration, if it describes a causal language model."""
    config = read_config(folder)
    refuse_other(folder, config)
    return config


def read_config(folder: Path) -> Any:
    """The folder's configuration, if the installed Transformers knows its kind of model."""
    from transformers import AutoConfig

    if not (folder / "config.json").is_file():
        raise ForedraftError(
            f"{folder} has no config.json, so it is not a Transformers model folder; name the "
            "folder that holds config.json and the .safetensors files, or a .gguf file."
        )
    try:
        with quiet():
            return AutoConfig.from_pretrained(str(folder), trust_remote_code=False)
    except Exception as error:
        raise ForedraftError(
            f"{folder}/config.json cannot be used ({first_line(error)}); a model that is newer "
            "than the installed Transformers, or brings its own code, is not supported."
        ) from error


def refuse_other(folder: Path, config: Any) -> None:
    """Raise for a model that is not a causal language model."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    named = list(getattr(config, "architectures", None) or [])
    # BERT and its kin can be forced into a causal shape, so what the file says of itself counts.
    other = named and not any("CausalLM" in n or "LMHead" in n or "Conditional" in n for n in named)
    known = config.model_type in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    if getattr(config, "is_encoder_decoder", False) or other or not known:
        what = named[0] if named else config.model_type
        raise ForedraftError(
            f"{folder} holds a {what}, which does not continue text token by token; name a causal "
            "(decoder-only) language model."
        )
