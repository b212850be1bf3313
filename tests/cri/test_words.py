"""Errors in words, and the ends of a stream told apart."""

from __future__ import annotations

import grpc
import pytest

from app.cri.words import MAX_DETAILS, CallFailed, End, brief, shorten, stream_end

Code = grpc.StatusCode


@pytest.mark.parametrize(
    ("code", "at_once", "told"),
    [
        (Code.OK, True, "immediate_eof"),
        (Code.OK, False, "eof"),
        (Code.UNIMPLEMENTED, True, "unimplemented"),
        (Code.UNAVAILABLE, False, "unavailable"),
        (Code.DEADLINE_EXCEEDED, False, "deadline"),
        (Code.CANCELLED, False, "cancelled"),
        (Code.INTERNAL, True, "error"),
    ],
)
def test_ends_are_told_apart(code: grpc.StatusCode, at_once: bool, told: str) -> None:
    assert stream_end(code, "text", at_once=at_once).code == told


def test_an_unusual_end_names_its_code() -> None:
    assert stream_end(Code.INTERNAL, "boom", at_once=False) == End("error", "INTERNAL: boom")


def test_a_clean_end_has_no_detail() -> None:
    assert stream_end(Code.OK, "", at_once=False) == End("eof", "")


def test_a_runtimes_text_is_bounded() -> None:
    long = "x" * 100_000
    assert len(stream_end(Code.UNAVAILABLE, long, at_once=False).detail) == MAX_DETAILS
    assert len(CallFailed("Version", Code.UNKNOWN, long, 1).details) == MAX_DETAILS
    assert shorten("abc", 3) == "abc"
    assert shorten("abcd", 3) == "ab…"


def test_only_the_last_link_of_a_chain_is_shown() -> None:
    chain = "failed to connect to all addresses; last error: UNKNOWN: Connection refused"
    assert brief(chain) == "UNKNOWN: Connection refused"


def test_a_runtime_that_accepts_and_says_nothing_hangs() -> None:
    text = "connection attempt timed out before receiving SETTINGS frame"
    failed = CallFailed("ListContainers", Code.UNAVAILABLE, text, 120)
    assert "It hangs" in str(failed)
    assert failed.meaning == "silent"


def test_an_error_without_a_text_says_so() -> None:
    assert "without a reason" in str(CallFailed("Status", Code.ABORTED, "", 1))


@pytest.mark.parametrize("code", [code for code in Code if code is not Code.OK])
def test_every_failure_ends_with_what_to_do(code: grpc.StatusCode) -> None:
    text = str(CallFailed("Status", code, "details", 120))
    assert text.startswith("Status ")
    assert text.endswith(".")
    assert any(word in text for word in ("look at", "Look at", "Look whether", "look for", "Run "))
