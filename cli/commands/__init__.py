"""Commands that work over HTTP only. Must not import the application, nor ``cli.admin``."""
