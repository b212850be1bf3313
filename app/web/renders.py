"""What parts of the web ask of whoever renders pages (``pages.py``)."""

from collections.abc import Sequence
from typing import Protocol

from fastapi.responses import HTMLResponse

from app.engine.records import AnyRecord
from app.hub.wire import PodRow
from app.web.story import Places


class RendersPages(Protocol):
    """Renders pages."""

    def page(
        self, name: str, *, partial: bool, status: int = 200, **context: object
    ) -> HTMLResponse:
        """The template ``name``, whole or its inside only."""
        ...


class Refuses(Protocol):
    """Says why a link cannot be followed."""

    def refused(self, status: int, sentence: str) -> HTMLResponse:
        """A page with this sentence."""
        ...


class Renders(RendersPages, Refuses, Protocol):
    """Both."""


class RendersPods(Renders, Protocol):
    """Renders pods' pages too."""

    def pod(
        self,
        row: PodRow,
        records: Sequence[AnyRecord],
        *,
        partial: bool,
        places: Places,
        t: int,
        wall: int,
        then: str = "",
    ) -> HTMLResponse:
        """A pod's page at ``t`` (ns; ``wall``: ns since 1970)."""
        ...
