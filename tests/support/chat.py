"""Answers of language models, in the forms of OpenAI and Ollama.

Owns the far end of the network for them; for the stub of ``tests.support.provider``.
"""

from __future__ import annotations

import json
from typing import Any

from tests.support.provider import Asked, Behaviour, Reply, VectorFunction, fine


def reply(asked: Asked, value: Any) -> Reply:
    """A chat's answer with a value as JSON, or with a text as it is."""
    content = value if isinstance(value, str) or value is None else json.dumps(value)
    message = {"role": "assistant", "content": content}
    body = (
        {"message": message} if asked.path == "/api/chat" else {"choices": [{"message": message}]}
    )
    return Reply(json.dumps(body).encode())


def answering(value: Any) -> Behaviour:
    """Always this answer to a chat; embedding requests get right vectors."""

    def behave(asked: Asked, vector: VectorFunction) -> Reply:
        return reply(asked, value) if "messages" in asked.body else fine(asked, vector)

    return behave


def answering_in_turn(*values: Any) -> Behaviour:
    """These answers, one a chat; the last one stays."""
    left = list(values)

    def behave(asked: Asked, vector: VectorFunction) -> Reply:
        value = left.pop(0) if len(left) > 1 else left[0]
        return reply(asked, value)

    return behave
