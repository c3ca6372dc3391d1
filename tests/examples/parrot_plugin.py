"""The plug-in with the parrot in the place of every model: `llm` in a second, without torch."""

from foredraft import llm_plugin
from tests.cli.parrot import loader

llm_plugin.load = loader()
register_models = llm_plugin.register_models
