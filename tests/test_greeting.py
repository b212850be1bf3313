"""What a session says as it begins."""

from __future__ import annotations

import platform

import pytest

from app.greeting import elsewhere, greeting, recorded
from app.session import Subject


def test_a_browser_elsewhere_is_told_how_it_gets_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.terminal.sys.platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(platform, "node", lambda: "node-1")
    told = elsewhere(["http://127.0.0.1:7780/?token=secret"])
    assert "ssh -L 7780:127.0.0.1:7780 node-1, then the same address there" in told
    # The line is for other terminals too: who reads along is not to read the token twice.
    assert "secret" not in told
    assert "ssh -L 81:[::1]:81 node-1" in elsewhere(["http://[::1]:81/"])
    # Nothing is served, others get here as it is, or there is a screen to look at.
    assert elsewhere([]) == ""
    assert elsewhere(["http://192.0.2.2:7780/?token=a", "http://127.0.0.1:7780/?token=a"]) == ""
    assert elsewhere(["http://192.0.2.2:7780/?token=a"]) == ""
    monkeypatch.setenv("DISPLAY", ":0")
    assert elsewhere(["http://127.0.0.1:7780/?token=secret"]) == ""


def test_a_recording_that_ends_is_told_with_the_command_that_plays_it() -> None:
    assert recorded("a b.mcap", 12345) == (
        "a b.mcap: 12,345 bytes. `plegscope replay 'a b.mcap'` plays it.\n"
    )
    assert "\x1b" not in recorded("\x1b[2J.mcap", 1)


def test_of_a_runtime_that_did_not_answer_it_is_told_what_becomes_of_that() -> None:
    subject = Subject("a runtime on node-1", False, "unix:///run/x.sock", "given")
    told = greeting(subject, None, "none")
    assert told.startswith("plegscope watches a runtime on node-1.\n")
    assert "event stream  not joined. The runtime takes connections and has not said who" in told
    assert "plegscope asks for its lists all the same" in told
