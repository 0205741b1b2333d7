"""From texts to unit vectors: chunking, the providers, the score scale.

Owns what is embedded and by whom. Must not know the database, the index or any ranker.
"""
