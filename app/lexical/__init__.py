"""The lexical layer: which words stand where, and which notes they find.

Owns segmentation, postings, BM25 and the expansion of terms. Must not read the database or know
how notes are stored: documents come in as values.
"""
