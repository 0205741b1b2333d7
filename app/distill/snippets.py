"""The code that an outcome rests on: at most three blocks, each with what it is for.

Owns their choice and their description.
"""

from __future__ import annotations

from app.distill.prose import Code
from app.distill.reading import Reading
from app.distill.signals import signals_of
from app.distill.tags import language_of_label
from app.distill.turns import ASSISTANT
from app.domain.notes import Snippet

MOST_SNIPPETS = 3
LONGEST_CODE = 1_500
LONGEST_DESCRIPTION = 160
_OUTPUT_LABELS = frozenset(("text", "txt", "log", "output", "console", "plaintext", "diff"))


def snippets_of(reading: Reading, chosen: set[str]) -> tuple[Snippet, ...]:
    """Return the blocks that the outcome rests on, in the order of the conversation.

    Args:
        chosen: The sentences that the note is made of; a block beside one counts more.
    """
    said = {each.turn for each in reading.sentences if each.text in chosen}
    ranked = []
    for place, (turn, code) in enumerate(reading.codes):
        if reading.turns[turn].role != ASSISTANT or not code.text.strip():
            continue
        worth = 2.0 * (turn in said) + turn / max(len(reading.turns), 1)
        worth -= 2.0 * (code.language in _OUTPUT_LABELS) + 1.0 * (len(code.text) > LONGEST_CODE)
        worth -= 1.0 * (code.text.count("\n") == 0 and len(code.text) < 12)
        ranked.append((worth, place))
    best = sorted(ranked, key=lambda item: (-item[0], item[1]))[:MOST_SNIPPETS]
    places = sorted(place for worth, place in best if worth > 0)
    return tuple(_snippet(reading, *reading.codes[place]) for place in places)


def _snippet(reading: Reading, turn: int, code: Code) -> Snippet:
    language = language_of_label(code.language) or code.language
    return Snippet(language, code.text[:LONGEST_CODE].rstrip(), _description(reading, turn, code))


def _description(reading: Reading, turn: int, code: Code) -> str:
    """Return the line that leads to a block, or what its turn says was done."""
    line = code.before.rstrip(":： ")
    told = [each for each in reading.sentences if each.turn == turn]
    if len(line) < 12 or signals_of(line).is_plan:
        done = [each.text for each in told if each.signals.outcome]
        line = (done or [each.text for each in told] or [line])[0]
    elif len(line) > LONGEST_DESCRIPTION and told:
        line = max((each.text for each in told if each.text in line), key=len, default=line)
    return line[:LONGEST_DESCRIPTION].strip()
