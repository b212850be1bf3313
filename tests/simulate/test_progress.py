"""Progress: told when it takes long, and gone afterwards."""

import time

import pytest

from app.simulate.progress import Progress, silent


class Watch:
    """The machine's clock in a test's hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    made = Watch()
    monkeypatch.setattr(time, "monotonic", made)
    return made


def test_a_short_simulation_says_nothing(watch: Watch, capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(600 * 10**9)
    for second in range(600):
        watch.now += 0.0005
        progress(second * 10**9)
    progress.clear()
    assert capsys.readouterr().err == ""


def test_a_long_one_tells_how_far_it_is_and_how_fast_and_clears_up(
    watch: Watch, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = Progress(3600 * 10**9)
    watch.now += 0.6
    progress(900 * 10**9)
    watch.now += 0.1
    progress(1000 * 10**9)
    watch.now += 0.5
    progress(1800 * 10**9)
    lines = capsys.readouterr().err.split("\r")
    assert lines[1:] == [
        "15 min of 60 min simulated, 1500 times as fast as real time\x1b[K",
        "30 min of 60 min simulated, 1500 times as fast as real time\x1b[K",
    ]
    progress.clear()
    assert capsys.readouterr().err == "\r\x1b[K"


def test_nobody_need_listen(capsys: pytest.CaptureFixture[str]) -> None:
    silent(5)
    caught = capsys.readouterr()
    assert (caught.out, caught.err) == ("", "")
