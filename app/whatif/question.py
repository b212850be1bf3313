"""A question as a link asks it, checked; and the link's query that asks the same again."""

from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlencode

import msgspec

from app.engine.profiles import PROFILES
from app.errors import RecordingError, RecordingUnknown, SettingsError
from app.values import (
    parse_duration,
    parse_hold,
    parse_profile,
    parse_queue,
    parse_seed,
    parse_share,
)
from app.whatif.options import Options

MOST_FILES = 200
MOST_NAME = 255
MOST_TEXT = 64
"""Characters of any other value."""

STREAMS: Mapping[str, str] = {
    "recorded": "as recorded",
    "lost": "some events are lost",
    "delayed": "events come late",
    "silent": "open, but silent",
    "none": "nobody listens",
}
"""What can be made of the event stream."""

FIELDS = ("profile", "period", "queue", "hold", "stream", "loss", "delay", "seed")
OWN = ("file", "node", "ask", *FIELDS)
VIEW = ("show", "sort", "from", "stop")
"""How the answer is shown; these ask for nothing else."""
LOSS, DELAY, SEED = 0.5, "2s", 7
"""What is taken where the form's field is empty."""

NO_SUCH = "There is no parameter {!r} here. Those of a what-if are {}."
NAMED = "A recording is named by its file's name. Open /recordings."

Pairs = Sequence[tuple[str, str]]


class Question(msgspec.Struct, frozen=True):
    """Which recording (names of files, and the node's number among theirs), and what is to be
    otherwise."""

    files: tuple[str, ...]
    node: int
    options: Options

    def query(self) -> str:
        """A link's query that asks this."""
        asked = self.options
        pairs = [("file", name) for name in self.files]
        if self.node:
            pairs.append(("node", str(self.node)))
        if asked.profile is not None:
            pairs.append(("profile", asked.profile))
        if asked.period_ns:
            pairs.append(("period", _duration(asked.period_ns)))
        if asked.queue:
            pairs.append(("queue", str(asked.queue)))
        if asked.hold_ns is not None:
            pairs.append(("hold", _duration(asked.hold_ns) if asked.hold_ns else "off"))
        if not asked.stream:
            pairs.append(("stream", "none"))
        elif asked.silent:
            pairs.append(("stream", "silent"))
        elif asked.loss:
            pairs += [("stream", "lost"), ("loss", f"{asked.loss:g}")]
            if asked.seed != SEED:
                pairs.append(("seed", str(asked.seed)))
        elif asked.delay_ns:
            pairs += [("stream", "delayed"), ("delay", _duration(asked.delay_ns))]
        return urlencode([*pairs, ("ask", "1")])


def read(pairs: Pairs) -> tuple[Question, bool]:
    """What a link asks, and whether it does: one that only names a recording shows the form.

    Raises:
        RecordingUnknown: a file's name can be none.
        RecordingError: a parameter cannot be used; a sentence for people.
    """
    files = tuple(value for key, value in pairs if key == "file")
    for name in files:
        if not name or len(name) > MOST_NAME or "/" in name or "\0" in name:
            raise RecordingUnknown(NAMED)
    if len(files) > MOST_FILES:
        raise RecordingError(f"`file`: {MOST_FILES} at most can be asked together. Leave some out.")
    given = _once(pairs)
    node = given.pop("node", "0")
    if not node.isascii() or not node.isdigit() or int(node[:4]) >= MOST_FILES:
        raise RecordingError("`node`: give its number, counted from 0.")
    asks = given.pop("ask", "") != "" or any(name in given for name in FIELDS)
    return Question(files, int(node), _options(given)), asks


def _once(pairs: Pairs) -> dict[str, str]:
    """Every other parameter that says something; each once."""
    given: dict[str, str] = {}
    for key, value in pairs:
        if key == "file" or key in VIEW:
            continue
        if key not in OWN:
            raise RecordingError(NO_SUCH.format(key[:MOST_TEXT], ", ".join(OWN)))
        if key in given:
            raise RecordingError(f"`{key}` stands in this link twice. Take one of them out.")
        # A field of the form that was left empty says nothing.
        if value.strip():
            given[key] = value.strip()[: MOST_TEXT + 1]
    return given


def _options(given: Mapping[str, str]) -> Options:
    def one(name: str, parse: Callable[[str], object], default: object = None) -> object:
        text = given.get(name)
        if text is None or text == "recorded":
            return default
        try:
            if len(text) > MOST_TEXT:
                raise SettingsError("it is too long: shorten it.")
            return parse(text)
        except SettingsError as error:
            raise RecordingError(f"`{name}`: {error}") from None

    stream = given.get("stream", "recorded")
    if stream not in STREAMS:
        choices = ", ".join(STREAMS)
        raise RecordingError(f"`stream`: {stream[:MOST_TEXT]!r} is none: choose one of {choices}.")
    fields = {
        "profile": one("profile", parse_profile),
        "period_ns": one("period", parse_duration),
        "queue": one("queue", parse_queue),
        "hold_ns": one("hold", parse_hold),
        "seed": one("seed", parse_seed, SEED),
    }
    # Of what does not belong to this stream nothing is taken, but it must be right all the same.
    loss, delay = one("loss", parse_share, LOSS), one("delay", parse_duration)
    match stream:
        case "lost":
            fields["loss"] = loss
        case "delayed":
            fields["delay_ns"] = delay or parse_duration(DELAY)
        case "silent":
            fields["loss"] = 1.0
        case "none":
            fields["stream"] = False
        case _:
            pass
    if stream != "lost":
        fields["seed"] = SEED
    return msgspec.convert(fields, Options)


def filled(pairs: Pairs) -> dict[str, str]:
    """What the form shows: what was given, as far as it can show it."""
    told = {key: value.strip()[:MOST_TEXT] for key, value in reversed(pairs) if key in FIELDS}
    shown = {name: told.get(name, "") for name in FIELDS}
    if shown["profile"] not in PROFILES:
        shown["profile"] = ""
    if shown["stream"] not in STREAMS:
        shown["stream"] = "recorded"
    return shown


def _duration(ns: int) -> str:
    if ns % 10**9 == 0:
        return f"{ns // 10**9}s"
    return f"{ns / 10**6:.6f}".rstrip("0").rstrip(".") + "ms"
