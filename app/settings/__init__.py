"""Settings: one table of names, defaults and environment variables, parsed once and frozen.

Owns ``DATA_DIR/config.json``. Must not import anything of ours but ``app.errors``.
"""
