"""Decodes what stands in a file into our own types, as strictly as they say and a little more.

JSON has numbers of any size, and so has Python; columns of numbers, other formats and browsers do
not. A whole number of more than 64 bits is none that plegscope wrote, wherever it stands.
"""

from typing import Any, Generic, TypeVar

import msgspec

T = TypeVar("T")

TOO_LARGE = "a number has more than 64 bits"

UNFIT = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What ``Checked.decode`` raises for what is not as it should be."""


class Checked(Generic[T]):
    """Decodes JSON into one type, on one thread."""

    def __init__(self, kind: Any) -> None:
        self._decode = msgspec.json.Decoder(kind).decode
        # This form has no place for larger numbers: trying to write it looks at all of them, and
        # costs a third of decoding. Limits on each field would cost as much, and reach fewer.
        self._encode_into = msgspec.msgpack.Encoder().encode_into
        self._buffer = bytearray()

    def decode(self, data: bytes) -> T:
        """What ``data`` tells. Raises one of ``UNFIT``."""
        found: T = self._decode(data)
        try:
            self._encode_into(found, self._buffer)
        except OverflowError:
            raise msgspec.ValidationError(TOO_LARGE) from None
        return found
