"""A link's question, checked before anything is done."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest

from app.errors import RecordingError, RecordingUnknown
from app.whatif.options import Options
from app.whatif.question import Question, filled, read


def given(query: str) -> Question:
    """What a query asks."""
    return read(parse_qsl(query, keep_blank_values=True))[0]


@pytest.mark.parametrize(
    "options",
    [
        Options(),
        Options(profile="1.37", period_ns=10_000_000_000, queue=3),
        Options(hold_ns=0),
        Options(hold_ns=1_500_000_000),
        Options(stream=False),
        Options(loss=1.0),
        Options(loss=0.25, seed=9),
        Options(delay_ns=250_000_000),
    ],
)
def test_a_link_asks_the_same_again(options: Options) -> None:
    question = Question(("a b.mcap", "c.mcap"), 2, options)
    assert read(parse_qsl(question.query())) == (question, True)


def test_a_link_that_names_a_recording_only_shows_the_form() -> None:
    assert read([("file", "a.mcap"), ("node", "1")]) == (Question(("a.mcap",), 1, Options()), False)
    assert read([("file", "a.mcap"), ("show", "all"), ("from", "x")])[1] is False
    assert read([("file", "a.mcap"), ("ask", "1")])[1] is True
    assert read([("profile", "kep")])[1] is True


def test_fields_of_the_form_that_are_empty_or_belong_to_another_stream_say_nothing() -> None:
    plain = "profile=&period=&queue=&hold=&loss=0.9&delay=2s&seed=5&ask=1"
    assert given(f"stream=recorded&{plain}").options == Options()
    assert given(f"stream=silent&{plain}").options == Options(loss=1.0)
    assert given(f"stream=none&{plain}").options == Options(stream=False)
    assert given("stream=lost").options == Options(loss=0.5)
    assert given("stream=delayed").options == Options(delay_ns=2_000_000_000)
    assert given("hold=recorded&profile=recorded").options == Options()


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("profile=best", "`profile`: 'best' is no profile: choose one of kep"),
        ("period=5", "`period`: '5' is no duration: write it like 30s"),
        ("period=0s", "`period`: A duration must be longer than nothing"),
        ("queue=0", "`queue`: '0' is no queue size: give a whole number"),
        ("hold=long", "`hold`: 'long' is no hold: choose off"),
        ("stream=bad", "`stream`: 'bad' is none: choose one of recorded"),
        ("stream=lost&loss=2", "`loss`: '2' is no share: give a number"),
        ("loss=x", "`loss`: 'x' is no share"),
        ("stream=delayed&delay=soon", "`delay`: 'soon' is no duration"),
        ("seed=-1", "`seed`: '-1' is no seed"),
        ("node=-1", "`node`: give its number"),
        ("node=900", "`node`: give its number"),
        ("node=²", "`node`: give its number"),
        ("profile=kep&profile=kep", "`profile` stands in this link twice"),
        ("colour=red", "There is no parameter 'colour' here"),
        (f"period={'9' * 300}s", "`period`: it is too long"),
        (f"{'x' * 900}=1", "There is no parameter 'xxx"),
        ("&".join(f"file=a{n}" for n in range(201)), "`file`: 200 at most"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(query: str, why: str) -> None:
    with pytest.raises(RecordingError) as caught:
        given(query)
    assert str(caught.value).startswith(why)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("name", ["", "../a", "/etc/passwd", "a%00b", "x" * 256])
def test_a_file_is_a_name_and_no_path(name: str) -> None:
    with pytest.raises(RecordingUnknown):
        given(f"file={name}")


def test_the_form_shows_what_was_given() -> None:
    told = filled([("profile", "generic"), ("hold", " off "), ("stream", "x"), ("file", "a")])
    assert (told["profile"], told["hold"], told["stream"], told["loss"]) == (
        "generic",
        "off",
        "recorded",
        "",
    )
    assert filled([("profile", "<b>")])["profile"] == ""
    assert filled([("period", "y" * 999)])["period"] == "y" * 64
