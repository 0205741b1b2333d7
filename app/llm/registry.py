"""Which language models there are.

Owns the flat table that settings, help and documentation are checked against.
"""

from __future__ import annotations

from app.errors import ConfigurationError
from app.llm.base import LanguageModel
from app.llm.ollama import OllamaModel
from app.llm.openai import OpenAIModel
from app.settings.values import LanguageModelSettings

NONE = "none"

PROVIDERS: dict[str, type[LanguageModel]] = {"openai": OpenAIModel, "ollama": OllamaModel}


def create(settings: LanguageModelSettings) -> LanguageModel:
    """Make the language model that the settings name; it does not connect yet.

    Raises:
        ConfigurationError: None is named, or its settings cannot be used.
    """
    if settings.provider not in PROVIDERS:
        raise ConfigurationError(
            f"No language model is set: set llm.provider to {' or '.join(PROVIDERS)}"
        )
    return PROVIDERS[settings.provider](settings)
