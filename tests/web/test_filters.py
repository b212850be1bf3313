"""How pages word what they show."""

from __future__ import annotations

import pytest

from app.web.filters import code, curly, exit_meaning, plain, wall_time

WALL = 1_795_962_760_123_000_000


@pytest.mark.parametrize(
    ("code", "reason", "words"),
    [
        (None, "", "exit code not known"),
        (0, "Completed", "finished"),
        (137, "OOMKilled", "killed by SIGKILL: out of memory"),
        (137, "Error", "killed by SIGKILL; the runtime does not say out of memory"),
        (143, "", "ended by SIGTERM"),
        (139, "", "ended by SIGSEGV"),
        (161, "", "ended by signal 33"),
        (42, "", "error"),
    ],
)
def test_exit_codes(code: int | None, reason: str, words: str) -> None:
    assert exit_meaning(code, reason) == words


def test_times() -> None:
    assert wall_time(WALL) == "2026-11-29 14:32:40.123 UTC"
    assert wall_time(0) == "not known"
    assert wall_time(1 << 80) == "not known"


def test_what_a_text_quotes_is_code_whatever_it_holds() -> None:
    assert (
        code("Under `kep` & `<b>`: `") == "Under <code>kep</code> &amp; <code>&lt;b&gt;</code>: `"
    )
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in code("`\N{RIGHT-TO-LEFT OVERRIDE}`")
    assert plain("Under `kep` and `legacy`") == "Under kep and legacy"


def test_apostrophes_are_those_of_print_except_in_what_is_quoted() -> None:
    told = curly("The runtime's lists, the pods' ends, `it's` and 'so'; 5' and rock'n'roll")
    assert told.replace("\N{RIGHT SINGLE QUOTATION MARK}", "^") == (
        "The runtime^s lists, the pods^ ends, `it's` and 'so'; 5' and rock^n^roll"
    )


def test_a_container_the_runtime_lost_track_of_has_no_code_of_its_own() -> None:
    assert exit_meaning(255, "Unknown").startswith("the runtime lost track")
    assert exit_meaning(255, "Error") == "error, or a code out of range"
    assert exit_meaning(1, "Unknown") == "error"
