"""The gate: what is worth a note, why something is not, and what its score is made of."""

from __future__ import annotations

import pytest

from app.distill.gate import ACCEPTED, EMPTY, judge
from app.distill.signals import is_wave
from tests.distill.talks import NOT_WORTH, POOL, WORTH, Said, judged, reading


@pytest.mark.parametrize("name", WORTH)
def test_it_lets_pass_what_helps_again(name: str) -> None:
    judgement = judged(*WORTH[name])
    assert judgement.accepted, judgement
    assert judgement.reason == ACCEPTED
    assert judgement.missing == ()


@pytest.mark.parametrize("name", NOT_WORTH)
def test_it_leaves_out_what_does_not_and_says_why(name: str) -> None:
    said, reason = NOT_WORTH[name]
    judgement = judged(*said)
    assert not judgement.accepted
    assert judgement.reason == reason, judgement


@pytest.mark.parametrize(
    "said",
    [(), (("assistant", "I fixed the error in app.py because it was wrong."),), (("user", " "),)],
    ids=["nobody", "no user", "blank"],
)
def test_a_conversation_without_a_request_is_empty(said: tuple[Said, ...]) -> None:
    assert judged(*said).reason == EMPTY


def test_details_say_what_the_score_is_made_of() -> None:
    judgement = judged(*POOL)
    details = judgement.details()
    assert details["decision"] == "accept"
    assert details["score"] == judgement.score == min(sum(judgement.points.values()), 100)
    assert set(judgement.points) == {"problem", "process", "outcome", "reuse"}


def test_without_its_end_a_conversation_has_no_outcome() -> None:
    assert judged(*POOL[:2]).reason == "no-outcome"


def test_a_log_with_a_question_is_no_raw_log() -> None:
    log = NOT_WORTH["log"][0][0][1]
    said = (
        ("user", f"{log}\n\nWhy does worker 7 take so much longer than the others, and can we "
                 "make it as fast as the rest? It blocks the queue and everything times out."),
        ("assistant", "Worker 7 reads from the slow disk, because its path points to /mnt/cold. "
                      "I changed `storage.path` in workers.yaml to the SSD and it is as fast now."),
        ("user", "great, that was it"),
    )  # fmt: skip
    assert judge(reading(*said)).accepted


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ok, go ahead!", True),
        ("LGTM 👍", True),
        ("好的，谢谢", True),
        ("可以，提交吧。", True),
        ("yes but use a set instead of a list", False),
        ("好的，但是缓存要加过期时间", False),
        ("go", True),
        ("golang", False),
    ],
)
def test_a_wave_only_agrees(text: str, expected: bool) -> None:
    assert is_wave(text) is expected


HOSTILE = {
    "digits": "0" * 60_000,
    "dots": "." * 60_000,
    "slashes": "/a" * 30_000,
    "brackets": "[(" * 30_000,
    "case": "Ab" * 30_000,
    "fences": "```\n" * 10_000,
    "errors": "Error: " * 9_000,
    "tags": "</rules><rules>" * 4_000,
    "汉字": "错误，" * 20_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_pastes_of_any_kind_are_read(name: str) -> None:
    """Each of these once took a pattern minutes, which this test would notice."""
    text = HOSTILE[name]
    found = reading(("user", text), ("edit", text), ("assistant", text), name=text[:300])
    assert 0 <= judge(found).score <= 100
    assert len(found.tags) <= 8
    assert all(len(each) <= 200 for each in found.files)
    assert len(found.error_signatures) <= 6
