"""The check of how spaces read their cosines, against what this version ships."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection

from app.maintenance.calibration.scales import offers
from app.maintenance.doctor.checks import Check, Steps, counted

SCALES = "scales"


def shipped(connection: Connection, steps: Steps) -> Iterator[Check]:
    """Count spaces with another border or other means than ship for their model; no fault.

    Someone may have calibrated them, or an older version made them.
    """
    count = len(offers(connection))
    message = (
        f"{counted(count, 'space')} with another border or other means than this version ships; "
        "crystal calibrate --shipped tells, and takes them with --apply"
    )
    yield Check(SCALES, True, count, message if count else "")
