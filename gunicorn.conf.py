"""What ``gunicorn app.wsgi:app`` reads in a checkout: the configuration that the package ships."""

from cli.admin.gunicorn_conf import *  # noqa: F403
