"""Takes protobuf messages apart as far as comparing lists takes, without knowing what is in them:
a list's rows, a row's id and its fields. Every length is checked.

(Encoding: protobuf.dev/programming-guides/encoding.)
"""

from typing import Final

MOST_ROWS: Final = 20_000
"""Rows of a list that are compared; one with more is told in whole."""
MOST_FIELDS: Final = 1024
"""Fields of a row that are compared; a row with more counts as changed."""
ROW: Final = 0x0A
"""How a row begins in a list, and an id in a row: field 1, with a length."""


class Malformed(ValueError):
    """Bytes that are no protobuf message, or not one whose rows can be told apart."""


def split_rows(raw: bytes) -> dict[bytes, bytes]:
    """A list's rows by their ids, in order.

    Raises:
        Malformed: something else is in it, a row has no id of its own, or there are too many.
    """
    rows: dict[bytes, bytes] = {}
    at, size = 0, len(raw)
    while at < size:
        if raw[at] != ROW or len(rows) == MOST_ROWS:
            raise Malformed("a list has other fields than rows, or too many")
        length, start = _varint(raw, at + 1)
        at = start + length
        if at > size:
            raise Malformed("a list ends within a row")
        row = raw[start:at]
        row_id = _id(row)
        if not row_id or row_id in rows:
            raise Malformed("a row of a list has no id, or another one's")
        rows[row_id] = row
    return rows


def _id(row: bytes) -> bytes:
    # Nearly always it is the first field.
    if len(row) > 2 and row[0] == ROW and row[1] < 0x80:
        return row[2 : 2 + row[1]]
    for field in split_fields(row):
        if field[0] == ROW:
            return field[_varint(field, 1)[1] :]
    return b""


def split_fields(raw: bytes) -> list[bytes]:
    """A message's fields, each with its tag, as they stand in it.

    Raises:
        Malformed: it is no message, or has too many.
    """
    found: list[bytes] = []
    at, size = 0, len(raw)
    while at < size:
        begin = at
        tag = raw[at]
        at += 1
        if tag >= 0x80:
            tag, at = _varint(raw, begin)
        kind = tag & 7
        if kind == 2:
            # Short ones at once: this is what comparing lists costs.
            if at < size and raw[at] < 0x80:
                at += 1 + raw[at]
            else:
                length, at = _varint(raw, at)
                at += length
        elif kind == 0:
            _value, at = _varint(raw, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise Malformed("a message has a field of no kind that is used")
        if at > size or len(found) == MOST_FIELDS:
            raise Malformed("a message ends within a field, or has too many")
        found.append(raw[begin:at])
    return found


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    """A number and where it ends."""
    value = shift = 0
    while at < len(raw) and shift < 64:
        byte = raw[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise Malformed("a message ends within a number")


def as_row(row: bytes) -> bytes:
    """A row as it stands in a list."""
    size, length = bytearray([ROW]), len(row)
    while length > 0x7F:
        size.append(length & 0x7F | 0x80)
        length >>= 7
    return bytes([*size, length]) + row
