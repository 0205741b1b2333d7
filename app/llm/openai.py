"""Any server that speaks OpenAI's chat API.

Owns the form of that request and answer. Must not know HTTP beyond the client it is given.
"""

from __future__ import annotations

from typing import ClassVar

from app.errors import ProviderAnswerInvalid
from app.llm.base import LanguageModel, Task, messages_of


class OpenAIModel(LanguageModel):
    """``POST {base_url}/chat/completions`` with a JSON schema as the form of the answer."""

    provider: ClassVar[str] = "openai"
    default_model: ClassVar[str] = "gpt-4o-mini"
    default_url: ClassVar[str] = "https://api.openai.com/v1"

    def request_text(self, task: Task, objection: str) -> object:
        """Ask for one answer."""
        form = {"name": task.name, "schema": task.schema}
        answer = self._client.post(
            "/chat/completions",
            {
                "model": self.model,
                "messages": messages_of(task, objection),
                "response_format": {"type": "json_schema", "json_schema": form},
                "temperature": 0,
            },
        )
        choices = answer.get("choices") if isinstance(answer, dict) else None
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            raise ProviderAnswerInvalid(
                "The language model's answer has no list named choices: check llm.base_url"
            )
        message = choices[0].get("message")
        return message.get("content") if isinstance(message, dict) else None
