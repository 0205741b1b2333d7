"""The default ranker, one module per stage of search.md.

``v049`` and ``vector`` are the same stages with some switched off.
"""
