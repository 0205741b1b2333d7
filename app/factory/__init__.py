"""Wires everything; the only package that knows every layer.

Owns the life of a process's parts: opening, warming, closing.
"""

from app.factory.application import Application
from app.factory.building import build
from app.factory.memory import tune_memory
from app.factory.opening import database_url, knows_tokens
from app.factory.rehearsing import conversation_rehearsal, rehearsal, vault_rehearsal

__all__ = [
    "Application",
    "build",
    "conversation_rehearsal",
    "database_url",
    "knows_tokens",
    "rehearsal",
    "tune_memory",
    "vault_rehearsal",
]
