"""``plegscope replay``: the session that the pages beside the player show, and what is printed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from app.engine.records import Note, RelistFinished
from app.journal.journal import DEFAULT_CAPACITY
from app.replay import NOTHING, RecordedSession
from app.replaying.show import Show
from tests.commands import environment
from tests.recording.recorded import record_scenario
from tests.replaying.test_sources import journal, written


def session_of(path: Path) -> RecordedSession:
    show = Show([path])
    session = RecordedSession(show, str(path))
    while records := show.films[0].advance():
        for record in records:
            session.take(record)
    session.finish()
    return session


@pytest.mark.parametrize("redirect", ["", ">/dev/full"])
def test_the_file_name_is_text_and_a_full_disk_a_sentence(redirect: str, tmp_path: Path) -> None:
    path = written(tmp_path / "a\x1b[2J\n.jsonl", journal())
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirect}', "sh", sys.executable, "-m", "app", "replay",
         str(path), "--port", "0", "--no-browser", "--duration", "1s"],
        capture_output=True, text=True, check=False, timeout=60, env=environment(),
    )  # fmt: skip
    if redirect:
        assert done.returncode == 1
        assert done.stderr.startswith("plegscope: Standard output cannot be written: No space")
    else:
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("plegscope shows a\\x1b[2J\\n.jsonl, ")


def test_beside_the_player_the_end_is_shown_and_what_is_missing(tmp_path: Path) -> None:
    session = session_of(written(tmp_path / "a.jsonl", journal(), b"garbage"))
    state = session.state()
    last = session.journal.newest(1)[0]
    assert isinstance(last, Note)
    assert "of a.jsonl could not be read" in last.text
    assert (state.title, state.ended, state.engine.t, state.wall) == (
        "a.jsonl", True, last.t, last.wall,
    )  # fmt: skip
    assert state == session.state()
    relists = [r for r in session.journal.since(0) if isinstance(r, RelistFinished)]
    newest = [r.relist for r in relists if r.scope == "global"][-1]
    assert state.engine.last_global is not None
    assert state.engine.last_global.relist == newest


def test_what_only_the_player_has_is_said(tmp_path: Path) -> None:
    show = Show([written(tmp_path / "a.jsonl", journal())])
    session = RecordedSession(show)
    one = journal()[-1]
    for seq in range(1, DEFAULT_CAPACITY + 8):
        session.take(msgspec.structs.replace(one, seq=seq))
    session.finish()
    last = session.journal.newest(1)[0]
    assert isinstance(last, Note)
    assert last.text.startswith("The oldest 7 records are not on the pods' pages")


def test_a_recording_says_what_it_is_of(tmp_path: Path) -> None:
    records = record_scenario(tmp_path / "a.mcap", "storm", seconds=60)
    session = session_of(tmp_path / "a.mcap")
    assert session.journal.last_seq == len(records)
    assert session.subject.simulated
    assert session.subject.title == "a.mcap: A hundred ends at once, seed 7, in virtual time"


def test_where_nothing_is_open_it_is_said_so() -> None:
    session = RecordedSession()
    session.finish()
    state = session.state()
    assert (state.title, state.last_seq, state.simulated) == (NOTHING, 0, False)
