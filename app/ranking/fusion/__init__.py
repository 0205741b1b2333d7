"""The ranker `fusion`: semantic and lexical retrieval fused, one module per concept.

Owns the published rules and nothing besides: every signal is normalised within the current result
set, and no constant is compared with a raw score of either source.
"""
