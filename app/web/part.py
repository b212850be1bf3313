"""A part of what is served: routes of its own, and how their answers are described."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec
from fastapi import APIRouter


class Part(NamedTuple):
    """Routes, and what is answered where (as for ``openapi.describe``)."""

    router: APIRouter
    answers: Mapping[tuple[str, str], type[msgspec.Struct]]
