"""What a recorder has to say is said once."""

from __future__ import annotations

from app.recording.bulletin import BEHIND, CAUGHT_UP, GOES_ON, MOST, STOPPED, Bulletin


def test_each_change_is_told_once() -> None:
    bulletin = Bulletin()
    assert bulletin.news("", slow=False) == []
    assert bulletin.news("full", slow=False) == [("warning", STOPPED.format("full"))]
    assert bulletin.news("full", slow=False) == []
    # Another trouble is news.
    assert bulletin.news("gone", slow=False) == [("warning", STOPPED.format("gone"))]
    assert bulletin.news("", slow=True) == [("info", GOES_ON), ("warning", BEHIND)]
    assert bulletin.slow
    assert bulletin.news("", slow=False) == [("info", CAUGHT_UP)]


def test_a_slow_disk_that_fails_has_not_caught_up() -> None:
    bulletin = Bulletin()
    bulletin.news("", slow=True)
    assert bulletin.news("full", slow=False) == [("warning", STOPPED.format("full"))]


def test_what_waits_is_bounded() -> None:
    bulletin = Bulletin()
    for number in range(MOST + 5):
        bulletin.warn(str(number))
    news = bulletin.news("", slow=False)
    assert [text for _level, text in news] == [str(number) for number in range(5, MOST + 5)]
    assert bulletin.news("", slow=False) == []
