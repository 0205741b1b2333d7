"""Ollama by its own API.

Owns the form of that request and answer. Must not know HTTP beyond the client it is given.
"""

from __future__ import annotations

from typing import ClassVar

from app.errors import ProviderAnswerInvalid
from app.llm.base import LanguageModel, Task, messages_of
from app.settings.values import LanguageModelSettings

CHARACTERS_PER_TOKEN = 2
"""At most so few, in Chinese: the window must hold the whole text, or its head is cut off."""

WINDOW_BESIDE_INPUT = 4_096


class OllamaModel(LanguageModel):
    """``POST {base_url}/api/chat``; the address may end in ``/v1``, as others write it."""

    provider: ClassVar[str] = "ollama"
    default_model: ClassVar[str] = "qwen2.5:7b"
    default_url: ClassVar[str] = "http://localhost:11434"

    @classmethod
    def address(cls, settings: LanguageModelSettings) -> str:
        """Return the address of the server itself."""
        return (settings.base_url or cls.default_url).rstrip("/").removesuffix("/v1")

    def request_text(self, task: Task, objection: str) -> object:
        """Ask for one answer."""
        window = len(task.text) // CHARACTERS_PER_TOKEN + WINDOW_BESIDE_INPUT
        answer = self._client.post(
            "/api/chat",
            {
                "model": self.model,
                "messages": messages_of(task, objection),
                "format": task.schema,
                "stream": False,
                "options": {"temperature": 0, "num_ctx": window},
            },
        )
        message = answer.get("message") if isinstance(answer, dict) else None
        if not isinstance(message, dict):
            raise ProviderAnswerInvalid(
                "The language model's answer has no message: check llm.base_url"
            )
        return message.get("content")
