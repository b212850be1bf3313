"""Messages to JSON text, each encoded once however many viewers it goes to."""

from typing import Any

import msgspec

_encoder = msgspec.json.Encoder()


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One text frame, shared by all viewers it goes to. ``size`` in bytes; ``last``: who has taken
    it knows all records up to this one (None: it says nothing about records). ``skipped``,
    ``lost``: what it tells a viewer it has missed, counted when it is taken: a frame that is
    dropped itself has told nobody."""

    text: str
    size: int
    last: int | None = None
    skipped: int = 0
    lost: int = 0


def encode(message: msgspec.Struct | dict[str, Any]) -> bytes:
    """A message as JSON. Text that is not Unicode (lone surrogates) is replaced by ``?``.

    Names and reasons come from outside. Protobuf checks them, other sources may not, and one bad
    name must not end the stream for everybody.
    """
    try:
        return _encoder.encode(message)
    except UnicodeEncodeError:
        return _encoder.encode(_scrub(msgspec.to_builtins(message)))


def frame(message: msgspec.Struct, last: int | None = None) -> Frame:
    """A message as a frame."""
    data = encode(message)
    return Frame(data.decode(), len(data), last)


def _scrub(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_scrub(key): _scrub(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_scrub(item) for item in value]
    return value
