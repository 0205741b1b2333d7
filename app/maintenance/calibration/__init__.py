"""Calibrating a space: its means, and its border of relevance fitted on labelled queries.

``fitting``, ``nearness`` and ``averages`` are pure. Nothing is written but by ``scales``.
"""
