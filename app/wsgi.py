"""The application of one worker process, for servers that run several: ``app.wsgi:app``.

Importing it opens the database of this machine's settings. Every worker imports it for itself,
after it was forked: threads, connections and the index cannot be shared by forking.
"""

from __future__ import annotations

import atexit

from app import factory
from app.settings import store

factory.tune_memory()
_application = factory.build(store.load())
atexit.register(_application.close)
_application.warm()
app = _application.flask()
