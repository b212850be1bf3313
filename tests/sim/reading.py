"""TOML into what it describes, errors and all."""

import tomllib
from typing import TypeVar

import msgspec

from app.sim.library import special

T = TypeVar("T")


def convert(text: str, kind: type[T]) -> T:
    """What the text describes.

    Raises:
        msgspec.ValidationError: it cannot be.
    """
    return msgspec.convert(tomllib.loads(text), kind, dec_hook=special)
