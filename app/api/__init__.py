"""The HTTP surface: parameters in, envelopes out, one module per noun.

Owns everything that knows HTTP. Must not hold a rule about notes, vectors or order.
"""
