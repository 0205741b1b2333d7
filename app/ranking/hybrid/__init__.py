"""Our own ranker: meaning of whole notes and of their fields, words where they could be found.

Constants are ours and measured (docs/evaluation.md).
"""
