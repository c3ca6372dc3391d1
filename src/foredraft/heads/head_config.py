"""A head's config.json, and the settings in it that nothing here can follow."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from foredraft.core.errors import ForedraftError

_SECTIONS = ("transformer_layer_config", "speculators_config", "eagle_config", "dflash_config")


def config_of(folder: Path) -> dict[str, Any]:
    """The folder's config.json as it stands."""
    path = folder / "config.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ForedraftError(f"{path} cannot be read ({error}); download it again.") from error
    if not isinstance(content, dict):
        raise ForedraftError(f"{path} holds no JSON object; download the head again.")
    return content


def refuse_malformed(name: str, config: Mapping[str, Any]) -> None:
    """Raise for sections that hold something else than settings."""
    for section in _SECTIONS:
        if not isinstance(config.get(section), dict | None):
            raise ForedraftError(
                f"{name} has {section} {config[section]!r} in its config.json, where a JSON object "
                "belongs; download it again."
            )


def refuse_lossy(name: str, config: Mapping[str, Any]) -> None:
    """Raise for a checkpoint whose settings ask for tokens the target would not have given."""
    for proposal in _proposals(config):
        for setting, exact in (("verifier_accept_k", 1), ("accept_tolerance", 0)):
            value = proposal.get(setting, exact)
            if value not in (None, exact):
                raise ForedraftError(
                    f"{name} asks for {setting} {value}, which accepts tokens that the target "
                    f"would not have given; foredraft only drafts exactly: set it to {exact} in "
                    "the head's config.json."
                )


def _proposals(config: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    listed = (config.get("speculators_config") or {}).get("proposal_methods")
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
