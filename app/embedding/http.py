"""The HTTP client of remote embedding providers.

Owns how settings and messages call them. Must not know any provider's API.
"""

from __future__ import annotations

from app.remote.client import Remote, RemoteClient
from app.settings.values import EmbeddingSettings


class ProviderClient(RemoteClient):
    """Posts JSON to one embedding provider; safe among threads."""

    def __init__(self, settings: EmbeddingSettings, address: str) -> None:
        """Set up without connecting.

        Args:
            address: URL that paths are appended to; it may carry a user, a password or a query.

        Raises:
            ConfigurationError: The address is no HTTP URL, or the key fits in no header.
        """
        remote = Remote(
            noun="embedding provider",
            group="embedding",
            size="max_chars",
            amount="batch_size",
            api_key=settings.api_key,
            timeout=settings.timeout,
            retries=settings.retries,
        )
        super().__init__(remote, address)
