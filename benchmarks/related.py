"""300 notes in which the answers to ten questions are found by their relations alone.

Owns texts, relations and questions, the same at every run. In each case two notes name the topic;
the answer does not, in no word and no near meaning, and is one relation away from both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

NOTES = 300
TYPED = "typed"
FILE = "file"
ERROR = "error"

Text = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Case:
    """A question, the two notes that name its topic, and the answer that does not.

    ``joined_by`` says how both are joined to the answer: by a typed relation, by a file that all
    touched, or by an error signature that all have.
    """

    query: str
    topic: tuple[Text, Text]
    answer: Text
    joined_by: str


CASES: tuple[Case, ...] = (
    Case(
        "why does the checkout freeze when a coupon is applied",
        (
            ("Checkout freezes after a coupon is applied",
             "Shoppers who enter a coupon at the checkout see a frozen page for half a minute."),
            ("Coupon field hangs the checkout in Safari",
             "Support collected nine reports: the coupon is accepted, then the checkout hangs."),
        ),
        ("Greedy pattern for full names backtracks",
         "The regular expression that validates them has nested quantifiers. Rewriting it with "
         "a possessive group made matching linear."),
        TYPED,
    ),
    Case(
        "invoices are emailed twice to customers",
        (
            ("Customers receive every invoice email twice",
             "Since Monday each invoice goes out by email two times, seconds apart."),
            ("Duplicate invoice emails after the mail worker restarted",
             "The invoice mailer sent everything again to customers once it came back."),
        ),
        ("Visibility timeout was shorter than the job",
         "A message came back to the queue while its consumer still worked on it. We raised the "
         "timeout to ten minutes and made the consumer idempotent."),
        TYPED,
    ),
    Case(
        "the mobile app drains the battery overnight",
        (
            ("Battery is empty in the morning with the mobile app installed",
             "Phones lose forty percent of battery overnight when the mobile app is installed."),
            ("Overnight battery drain since release 5.2 of the app",
             "Android blames our mobile app for the battery drain at night."),
        ),
        ("Wake lock was never released by the location service",
         "The listener acquired a partial lock and an early return skipped its release. A finally "
         "block gives it back."),
        TYPED,
    ),
    Case(
        "search results show products that are sold out",
        (
            ("Sold out products still appear in search results",
             "Shoppers click on search results and find that the product is sold out."),
            ("Search lists products hours after they sold out",
             "Merchandising wants sold out products to leave the search results at once."),
        ),
        ("Change events were consumed from one partition only",
         "The group had a static assignment left over from a test, so five of six partitions "
         "lagged. Removing it let the brokers rebalance."),
        TYPED,
    ),
    Case(
        "translations are missing on the Japanese landing page",
        (
            ("Japanese landing page shows English text",
             "Half of the translations are missing on the landing page for Japan."),
            ("Landing page lost its Japanese translations after the deploy",
             "The Japanese translations were there on Friday and gone after the deploy."),
        ),
        ("Tree shaking removed modules that are only named at run time",
         "The bundler saw no import of these files, since their paths are built from variables. "
         "An explicit glob keeps them in the bundle."),
        TYPED,
    ),
    Case(
        "users are logged out every hour",
        (
            ("Users complain that they are logged out every hour",
             "Everyone who works in the dashboard is logged out once an hour."),
            ("Hourly logout in the dashboard although remember me is ticked",
             "Users tick remember me and still get logged out after an hour."),
        ),
        ("Two servers signed with different keys",
         "A rolling secret had been rotated on one host. Both now read it from the vault and "
         "accept the previous one for a day."),
        TYPED,
    ),
    Case(
        "PDF reports have a blank last page",
        (
            ("Blank last page in every PDF report",
             "The PDF reports for finance end with a blank page since the redesign."),
            ("Finance gets PDF reports with an empty page at the end",
             "Printing the report wastes a sheet: the PDF has a blank last page."),
        ),
        ("Footer margin overflowed by one pixel",
         "Rounding of the line height pushed the box over the edge. Setting the height in points "
         "instead of ems stopped it."),
        TYPED,
    ),
    Case(
        "webhook deliveries to partners time out",
        (
            ("Webhook deliveries to partners time out at noon",
             "At noon webhook deliveries to three partners time out, day after day."),
            ("Partners miss webhook deliveries because of timeouts",
             "Two partners report webhook deliveries that never came; our log says timeout."),
        ),
        ("Resolver cached the negative answer for too long",
         "One lookup failed and the failure was kept for fifteen minutes. The stub resolver now "
         "keeps such answers for five seconds."),
        TYPED,
    ),
    Case(
        "thumbnails of uploaded photos are rotated wrongly",
        (
            ("Uploaded photos get rotated thumbnails",
             "Thumbnails of photos uploaded from phones are rotated by ninety degrees."),
            ("Gallery thumbnails are sideways for portrait photos",
             "Portrait photos look right when opened, but their thumbnails are rotated."),
        ),
        ("Metadata was stripped before it was read",
         "The pipeline ran the privacy step first. Swapping the two steps, and a test with a "
         "sample from a real camera, settled it."),
        FILE,
    ),
    Case(
        "nightly backup of the warehouse fails",
        (
            ("Nightly backup of the warehouse fails since June",
             "The backup of the warehouse starts at two in the night and fails after an hour."),
            ("Warehouse backup aborts every night",
             "No complete nightly backup of the warehouse exists for eleven days."),
        ),
        ("Temporary volume was too small for the sort",
         "Spilled runs filled the scratch disk. We moved the scratch directory to the large volume "
         "and lowered the degree of parallelism."),
        ERROR,
    ),
)  # fmt: skip
"""Ten questions; of most the answer is joined by a typed relation."""

_PLACES = (
    "linter", "compiler cache", "font loader", "feature flag service", "code formatter",
    "type stubs", "contract tests", "build container", "branch naming", "rate limiter", "icon set",
    "date picker", "schema registry", "load generator", "syntax highlighter", "release notes",
    "licence scanner",
    "colour palette", "retry policy", "package mirror",
)  # fmt: skip
_EVENTS = (
    ("upgraded to a new major version", "Three breaking changes had to be handled by hand."),
    ("configured per environment", "Defaults live in one file, overrides in variables."),
    ("measured with a profiler", "Most of the time went into repeated string formatting."),
    ("documented for newcomers", "The guide begins with an example and ends with a checklist."),
    ("replaced by a smaller library", "The old one pulled in forty dependencies."),
    ("covered by property tests", "A shrunk counterexample showed an off-by-one error."),
    ("split into two modules", "Each now has a single reason to change."),
    ("made deterministic", "Sorting before hashing removed the last difference between runs."),
    ("moved to the monorepo", "History was kept with a filtered clone."),
    ("reviewed for accessibility", "Contrast and focus order were corrected."),
    ("limited in memory", "A streaming parser holds one record at a time."),
    ("run before each push", "It takes eleven seconds on a warm cache."),
    ("kept out of the hot path", "It runs after the answer has been sent."),
    ("given a dry run", "It prints what it would change and touches nothing."),
)  # fmt: skip


def related_records() -> Iterator[dict[str, Any]]:
    """Yield the notes, answers first of their case, and the relations, as import records."""
    for number, case in enumerate(CASES):
        yield from _records_of(number, case)
    others = NOTES - 3 * len(CASES)
    for number in range(others):
        place = _PLACES[number % len(_PLACES)]
        event, detail = _EVENTS[number // len(_PLACES)]
        title = f"{place.capitalize()} {event}"
        yield from _note(f"other-{number}", (title, f"The {place} was {event}. {detail}"),
                         tags=[place])  # fmt: skip
        if number >= len(_PLACES):
            yield _relation(f"other-{number}", f"other-{number - len(_PLACES)}", "SIMILAR_TO")


def answer_of(number: int) -> str:
    """Return the external id of a case's answer."""
    return f"answer-{number}"


def _records_of(number: int, case: Case) -> Iterator[dict[str, Any]]:
    shared: dict[str, Any] = {}
    if case.joined_by == FILE:
        shared["files_touched"] = [f"services/media/step_{number}.py"]
    if case.joined_by == ERROR:
        shared["error_signatures"] = [f"E{number}17: operation stopped"]
    yield from _note(answer_of(number), case.answer, **shared)
    for place, text in enumerate(case.topic):
        name = f"topic-{number}-{place}"
        yield from _note(name, text, **shared)
        if case.joined_by == TYPED:
            yield _relation(name, answer_of(number), "CAUSED_BY")


def _note(name: str, text: Text, **more: Any) -> Iterator[dict[str, Any]]:
    conversation = f"conversation-{name}"
    yield {"type": "conversation", "external_id": conversation, "project_name": "shop"}
    title, summary = text
    yield {
        "type": "note", "external_id": name, "conversation": conversation, "title": title,
        "summary": summary, **more,
    }  # fmt: skip


def _relation(source: str, target: str, kind: str) -> dict[str, Any]:
    return {
        "type": "relation", "source": source, "target": target, "relation_type": kind,
        "confidence": 0.9,
    }  # fmt: skip
