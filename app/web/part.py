"""A part of what is served: routes of its own, and how their answers are described."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec
from fastapi import APIRouter


class Part(NamedTuple):
    """Routes, and what is answered where (as for ``openapi.describe``).

    ``changes``: addresses that take POST besides, and ``is_door``: those that need no token (both:
    see ``guard``).
    """

    router: APIRouter
    answers: Mapping[tuple[str, str], type[msgspec.Struct]]
    changes: tuple[str, ...] = ()
    is_door: Callable[[str], bool] | None = None
