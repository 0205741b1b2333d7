"""Rankers: pure functions from a question and evidence to an ordered answer and its record.

Owns every rule about order. Must do no I/O: what a ranker must know it asks for as a need.
"""
