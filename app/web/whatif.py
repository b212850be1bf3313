"""A recording run again with other settings: the page with its form and answer, and both as JSON.

The link is the whole question, so the form is a plain one; what the page does by itself is to ask
again, every second, how far its answer is. The work is done elsewhere (``app.whatif.desk``), one
question at a time, and given up when nobody asks any more.
"""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple, Protocol
from urllib.parse import urlencode

import msgspec
from fastapi import APIRouter, Header
from fastapi.responses import HTMLResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from app.engine.profiles import PROFILES
from app.errors import RecordingBusy, RecordingError, RecordingUnknown
from app.web.big import Readers
from app.web.part import Part
from app.web.refusal import Json, Problem
from app.web.renders import RendersPages
from app.web.runs import pairs_of, while_there

PAGE = "/recordings/whatif"
API = "/api/v1/recording/whatif"

Pairs = Sequence[tuple[str, str]]


class QuestionLike(Protocol):
    """What is asked; equal for equal questions."""

    @property
    def files(self) -> tuple[str, ...]:
        """Names of the recording's files."""
        ...

    @property
    def node(self) -> int:
        """Which node of theirs."""
        ...

    def query(self) -> str:
        """A link's query that asks this."""
        ...


class Desk(Protocol):
    """Answers questions (``app.whatif.desk``). A refusal is a ``RecordingError`` with a sentence.

    What the page shows of an answer and of a place is an affair of the template's.
    """

    @property
    def answers(self) -> Mapping[str, type[msgspec.Struct]]:
        """What the API answers, for OpenAPI: by what comes after its address."""
        ...

    @property
    def words(self) -> Mapping[str, Mapping[str, str]]:
        """What can be chosen in the form and of the answer, with its words."""
        ...

    def asked(self, pairs: Pairs) -> tuple[Any, bool]:
        """What a link asks, and whether it does."""
        ...

    def filled(self, pairs: Pairs) -> Mapping[str, str]:
        """What the form shows."""
        ...

    async def place(self, question: Any) -> Any:
        """The recording."""
        ...

    async def glance(self, question: Any) -> Any | None:
        """The answer if it is there; else it is worked on."""
        ...

    async def packed(self, question: Any) -> bytes:
        """The answer as gzipped JSON."""
        ...

    def progress(self, question: Any) -> msgspec.Struct:
        """How far it is."""
        ...

    def give_up(self, question: Any) -> None:
        """It is not wanted any more."""
        ...

    def shown(self, answered: Any, pairs: Pairs) -> tuple[Any, Any]:
        """The answer, and what a link wants to see of it; for a thread."""
        ...


class _Links(NamedTuple):
    """Addresses of the page's own links."""

    asked: str
    form: str
    stop: str
    replay: str

    def shown(self, show: str, sort: str, first: int = 0) -> str:
        """The same answer, shown otherwise."""
        pairs = [("show", show), ("sort", sort), *([("from", str(first))] if first else [])]
        return f"{self.asked}&{urlencode(pairs)}#rows"

    def at(self, t: int, shift_ns: int) -> str:
        """The player at a time of the session."""
        whole, rest = divmod(max(0, t + shift_ns), 10**9)
        text = f"{whole}.{rest:09d}".rstrip("0").rstrip(".")
        return f"{self.replay}&t={text}s"


_FILE = {
    "name": "file",
    "in": "query",
    "required": False,
    "description": "Name of a recording as in the list; several of one session are run as one. "
    "None: what plegscope was started with.",
    "schema": {"type": "array", "items": {"type": "string"}, "maxItems": 200},
}
_PARAMETERS: list[dict[str, Any]] = [
    _FILE,
    *(
        {"name": name, "in": "query", "required": False, "description": text, "schema": schema}
        for name, text, schema in (
            ("node", "Which node, counted from 0.", {"type": "integer", "minimum": 0}),
            (
                "profile",
                "Which PLEG to be (default: the recorded one).",
                {"type": "string", "enum": sorted(PROFILES)},
            ),
            ("period", "Between two global relists, such as `10s`.", {"type": "string"}),
            ("queue", "How many requests may wait.", {"type": "integer", "minimum": 1}),
            (
                "hold",
                "For how long each SyncPod holds its pod up: `recorded`, `off`, or such as `2s`.",
                {"type": "string"},
            ),
            (
                "stream",
                "What becomes of the event stream.",
                {"type": "string", "enum": ["recorded", "lost", "delayed", "silent", "none"]},
            ),
            ("loss", "Of `lost`: the share, such as 0.5 (default).", {"type": "number"}),
            ("delay", "Of `delayed`: by how much, such as `2s` (default).", {"type": "string"}),
            (
                "seed",
                "Of `lost`: which events (default: 7).",
                {"type": "integer", "minimum": 0},
            ),
        )
    ),
]
_EXTRA: dict[str, Any] = {"parameters": _PARAMETERS}
_REFUSALS: dict[int | str, dict[str, Any]] = {
    404: {"description": "The recording is not in reach."},
    422: {"description": "It cannot be run again so; the sentence says why."},
    503: {"description": "Too many questions are asked at the same time."},
}


def api(desk: Desk) -> Part:
    """The answer as JSON, and how far it is."""
    routes = APIRouter(
        prefix="/api/v1/recording",
        tags=["recordings"],
        responses=_REFUSALS,
        default_response_class=Response,
    )
    readers = Readers()

    @routes.get("/whatif", summary="A recording run again", openapi_extra=_EXTRA)
    async def answer(request: Request) -> Response:
        """Runs a recording through the engine again with other settings, against a runtime rebuilt
        from it, and answers with what would have been found when, beside what was recorded; what
        can be known of that and what cannot is part of the answer. One question is worked on at a
        time, as long as somebody waits for it. With the recorded settings it answers whether the
        same inputs gave the same records, byte for byte."""
        try:
            question, _ = desk.asked(pairs_of(request))
            packed = await while_there(request, desk.packed(question))
        except RecordingError as error:
            return Json(Problem(str(error)), status_of(error))
        return Response(status_code=204) if packed is None else readers.answer(packed, request)

    @routes.get("/whatif/progress", summary="How far an answer is", openapi_extra=_EXTRA)
    async def progress(request: Request) -> Response:
        """Asks without wanting the answer itself."""
        try:
            question, _ = desk.asked(pairs_of(request))
        except RecordingError as error:
            return Json(Problem(str(error)), status_of(error))
        return Json(desk.progress(question))

    answers: dict[tuple[str, str], Any] = {}
    for path, struct in desk.answers.items():
        answers[API + path, "200"] = struct
        for status in _REFUSALS:
            answers[API + path, str(status)] = Problem
    return Part(routes, answers)


def pages(desk: Desk, rendered: RendersPages) -> Part:
    """The page: a form, how far the answer is, or the answer."""
    routes = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)

    async def shown(pairs: Pairs) -> tuple[int, dict[str, Any]]:
        """HTTP status, and what the template is to show."""
        facts: dict[str, Any] = {
            "place": None, "told": None, "view": None, "going": None, "problem": "", "links": None,
        }  # fmt: skip
        try:
            question, asks = desk.asked(pairs)
            facts["links"] = _links(question)
            if any(key == "stop" for key, _ in pairs):
                desk.give_up(question)
                asks = False
            facts["place"] = await desk.place(question)
            if asks:
                answered = await desk.glance(question)
                if answered is None:
                    facts["going"] = desk.progress(question)
                else:
                    told = await run_in_threadpool(desk.shown, answered, pairs)
                    facts["told"], facts["view"] = told
        except RecordingError as error:
            facts["problem"] = str(error)
            if facts["place"] is None:
                facts["place"] = await _anyhow(desk, pairs)
            return status_of(error), facts
        return 200, facts

    @routes.get(PAGE)
    async def document(request: Request, hx_request: Annotated[str, Header()] = "") -> HTMLResponse:
        pairs = pairs_of(request)
        status, facts = await shown(pairs)
        partial = hx_request == "true"
        return rendered.page(
            "whatif.html",
            partial=partial,
            # What is put into a page is an answer, whatever it says.
            status=200 if partial else status,
            files=[value for key, value in pairs if key == "file"][:200],
            node=next((int(value) for key, value in pairs if key == "node" and _is_node(value)), 0),
            profiles=tuple(PROFILES.values()),
            filled=desk.filled(pairs),
            words=desk.words,
            **facts,
        )

    return Part(routes, {})


def _is_node(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 4


async def _anyhow(desk: Desk, pairs: Pairs) -> Any | None:
    """The recording of a link with something wrong in it, so that the form can be shown."""
    for names in (("file", "node"), ("file",)):
        with contextlib.suppress(RecordingError):
            question, _ = desk.asked([pair for pair in pairs if pair[0] in names])
            return await desk.place(question)
    return None


def _links(question: QuestionLike) -> _Links:
    source = [("file", name) for name in question.files]
    source += [("node", str(question.node))] if question.node else []
    query = urlencode(source)
    return _Links(
        asked=f"{PAGE}?{question.query()}",
        form=f"{PAGE}?{query}",
        stop=f"{PAGE}?{question.query()}&stop=1",
        replay=f"/replay?{query}",
    )


def status_of(error: RecordingError) -> int:
    """The HTTP status that says what kind of refusal it is."""
    if isinstance(error, RecordingBusy):
        return 503
    return 404 if isinstance(error, RecordingUnknown) else 422
