"""The check-up of a database: what is wrong, told check by check, and what can be mended.

Owns what counts as wrong. Repairs only what is derived, and through ``app.sync``, so that
processes that run follow; what people wrote is never changed.
"""
