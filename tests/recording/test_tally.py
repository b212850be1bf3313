"""What is lost, in numbers and in words, and what recording costs."""

from __future__ import annotations

from app.engine.inputs import Start
from app.recording.format import Loss
from app.recording.tally import Item, Losing, Rates, in_words, without_end

START = Start(t=1, wall=1)


def test_losses_are_counted_by_kind_from_the_first_on() -> None:
    losing = Losing()
    for t, kind in enumerate(("input", "made", "record", "event", "event", "loss", "answer"), 5):
        losing.add(Item(kind, t, t, START, 1), "")  # type: ignore[arg-type]
    assert losing.count == 7
    loss = losing.told(20, 21)
    assert loss == Loss(
        t=20,
        wall=21,
        from_t=5,
        inputs=1,
        records=2,
        events=2,
        answers=1,
        reason="the disk was too slow",
    )
    # Also once the trouble is over, it is why.
    for trouble in ("No space left on device", ""):
        losing.add(Item("event", 22, 22, b"", 1), trouble)
    assert losing.told(30, 31).reason == "No space left on device"


def test_what_a_recording_without_an_end_lacks_is_told() -> None:
    early = without_end("", "Permission denied", 0, unsaved=True, stuck=False)
    assert early.endswith("(Permission denied): nothing of this session is in a file.")
    late = without_end("a.mcap", "", 3_601 * 10**9, unsaved=True, stuck=False)
    assert late.endswith(
        "(no reason is known): what happened after 01:00:01 UTC is missing in a.mcap."
    )


def test_they_are_told_in_a_sentence() -> None:
    loss = Loss(t=1, wall=1, from_t=0, inputs=1200, records=3, events=0, reason="it was full")
    assert in_words(loss) == (
        "The recorder could not keep 1,200\xa0inputs, 3\xa0records, 0\xa0events and 0\xa0answers "
        "of the runtime: it was full. What comes now is recorded again."
    )


def test_rates_are_those_of_the_last_seconds() -> None:
    rates = Rates()
    assert rates.at(100.0, 1000, 0) == (0.0, 0.0)
    assert rates.at(101.0, 3000, 500_000_000) == (2000.0, 0.5)
    # Asked twice in a moment it answers, and remembers one of them.
    assert rates.at(101.1, 3000, 500_000_000)[0] < 2000
    for second in range(102, 200):
        last = rates.at(float(second), 3000, 500_000_000)
    assert last == (0.0, 0.0)
