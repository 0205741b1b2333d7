"""The server: storage, index, rankers and HTTP API of chatcrystal-search."""

from app.settings.environment import limit_native_threads, quieten_grpc

__version__ = "0.1.0"

# Native thread pools read this once, when numpy and faiss are first imported.
limit_native_threads()
quieten_grpc()
