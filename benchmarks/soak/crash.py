"""Kills: a server that writes for clients is ended by SIGKILL at random moments, again and again.

Owns the order of a trial: work, kill, look at the files, start again, look at the answers.
"""

from __future__ import annotations

import random
import sqlite3
import threading
from contextlib import ExitStack, closing
from pathlib import Path

from benchmarks.soak import checks, library
from benchmarks.soak.calls import Tally
from benchmarks.soak.ledger import halves, stored_notes
from benchmarks.soak.library import THREADS, Library, Work, until_gone
from benchmarks.soak.outcome import Row
from benchmarks.soak.processes import Place, Server, some_time

PART = "kill"
LONGEST_WORK = 1.2
"""Seconds of work before a kill, at most."""

MOST_NOTES = 150
SEARCHED = 2

WORKS: dict[str, Work] = {
    "create": library.create,
    "edit": library.edit,
    "delete": library.delete,
    "embed": library.embed,
    "import jsonl": library.import_lines,
    "import conversations (server)": library.scan,
}


class ServerKills:
    """One data folder whose server is killed at every trial."""

    def __init__(self, place: Place, tally: Tally, chance: random.Random) -> None:
        self.library = Library(Path(place.settings["CRYSTAL_SOURCES_HOME"]), chance)
        self._place = place
        self._tally = tally
        self._chance = chance
        self._life = ExitStack()
        self._server = self._started()
        self._fill()

    def _fill(self) -> None:
        caller = self._server.caller()
        library.import_lines(self.library, caller, 0)
        self.library.look(self._place.database)
        for note_id in self.library.ids():
            self.library.expect("embed", caller.call("POST", f"/api/notes/{note_id}/embed"), 200)
        caller.close()

    def _started(self) -> Server:
        server = Server(self._place, self._tally)
        self._life.callback(server.kill)
        return server.started()

    def trial(self, name: str, row: Row) -> None:
        """Have the server work and kill it; count what that came to."""
        self._work(WORKS[name])
        with checks.copied(self._place) as copy:
            wrong = checks.of_files(copy)
            stored = stored_notes(copy.database)
            wrong += half_imports(copy.database) + halves(self.library.imports, stored)
            self.library.look(copy.database)
        lost = self.library.ledger.lost(stored)
        self.library.imports.clear()
        self._server = self._started()
        caller = self._server.caller()
        wrong += checks.of_answers(self._place, caller, self.library.sample(SEARCHED))
        wrong += self.library.refused
        self.library.refused.clear()
        self._make_room()
        row.add(wrong, lost)

    def _work(self, work: Work) -> None:
        threads = [
            threading.Thread(
                target=until_gone, args=(work, self.library, self._server.caller(), number)
            )
            for number in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        some_time(self._chance, LONGEST_WORK)
        self._server.kill()
        for thread in threads:
            thread.join()

    def _make_room(self) -> None:
        caller = self._server.caller()
        while self.library.size > MOST_NOTES:
            library.delete_one(self.library, caller)
        caller.close()

    def close(self) -> None:
        """End the server."""
        self._life.close()


def half_imports(database: Path) -> list[str]:
    """Return the conversations that lack some of their messages."""
    with closing(sqlite3.connect(database)) as connection:
        found = connection.execute(
            "SELECT c.id FROM conversations c WHERE c.source = 'claude-code' AND c.message_count <>"
            " (SELECT count(*) FROM messages m WHERE m.conversation_id = c.id)"
        )
        return [f"conversation {row[0]} lacks messages" for row in found]
