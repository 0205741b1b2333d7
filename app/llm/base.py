"""What every language model shares: asking again when an answer is not as asked.

Owns the ``LanguageModel``; a provider adds one method. Must not talk to a network.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from app.errors import ProviderAnswerInvalid
from app.llm.schema import violation
from app.remote.client import Remote, RemoteClient
from app.settings.values import LanguageModelSettings

_FENCED = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n\s*```\s*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Task:
    """What a model is asked: what it is to do, about which text, in which form to answer."""

    name: str
    instructions: str
    text: str
    schema: Mapping[str, Any]


class LanguageModel(ABC):
    """Answers tasks in the form that they ask for; safe among threads.

    A provider names itself and its defaults, and writes ``request_text``.
    """

    provider: ClassVar[str]
    default_model: ClassVar[str]
    default_url: ClassVar[str]

    def __init__(self, settings: LanguageModelSettings) -> None:
        """Set up without connecting.

        Raises:
            ConfigurationError: The address or the key cannot be used.
        """
        self.model = settings.model or self.default_model
        self.max_input_chars = settings.max_input_chars
        self._retries = settings.retries
        self._client = RemoteClient(_remote(settings), self.address(settings))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} model={self.model!r}>"

    @classmethod
    def address(cls, settings: LanguageModelSettings) -> str:
        """Return the address that paths are appended to."""
        return settings.base_url or cls.default_url

    @abstractmethod
    def request_text(self, task: Task, objection: str) -> object:
        """Return what the model wrote; ``objection`` says what was wrong with the answer before."""

    def answer(self, task: Task) -> dict[str, Any]:
        """Return the answer to a task, an object as its schema asks.

        Raises:
            ProviderError: The model failed, or never answered in the form that was asked for.
        """
        objection = ""
        for _ in range(self._retries + 1):
            value, problem = _read(self.request_text(task, objection))
            problem = problem or violation(value, task.schema)
            if problem is None:
                return dict(value)
            objection = problem
        raise ProviderAnswerInvalid(
            f"The language model {self.model} did not answer in the form that was asked for "
            f"({objection}): check llm.model"
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _remote(settings: LanguageModelSettings) -> Remote:
    return Remote(
        noun="language model",
        group="llm",
        size="max_input_chars",
        amount="max_input_chars",
        api_key=settings.api_key,
        timeout=settings.timeout,
        retries=settings.retries,
    )


def _read(text: object) -> tuple[Any, str | None]:
    if not isinstance(text, str):
        return None, "the answer has no text"
    fenced = _FENCED.match(text)
    try:
        return json.loads(fenced[1] if fenced else text), None
    except (ValueError, RecursionError):
        return None, "the answer is no JSON"


def messages_of(task: Task, objection: str) -> list[dict[str, str]]:
    """Return a task as the messages of a chat."""
    asked = [
        {"role": "system", "content": task.instructions},
        {"role": "user", "content": task.text},
    ]
    if objection:
        asked.append(
            {"role": "user", "content": f"Your last answer was refused: {objection}. Answer again."}
        )
    return asked
