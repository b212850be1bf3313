"""The application: everything that is served, put together from what it is given. No globals."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.websockets import WebSocket

from app.errors import StageBusy, StageError, StageUnknown
from app.hub.hub import Hub
from app.hub.wire import SessionState
from app.journal.journal import Journal
from app.web import api, body, faults
from app.web.access import Access
from app.web.desk import Desk
from app.web.files import Files
from app.web.guard import MISTAKE, Guard
from app.web.live import serve_viewer
from app.web.openapi import describe
from app.web.part import Part
from app.web.refusal import Json, Problem, refuse, wants_page

API_DOCUMENT = "/api/v1/openapi.json"

DESCRIPTION = """What plegscope's shadow of a Kubernetes node's PLEG has seen, read-only.

Times named `t` or `*_t` are monotonic nanoseconds of the session, `*_ns` durations in nanoseconds,
`wall` and `*_at` nanoseconds since 1970. Records are also pushed over the WebSocket at `/ws`."""

NOT_FOUND = f"There is nothing here. {API_DOCUMENT} lists what there is."


class Pages(Protocol):
    """The documents for people."""

    def router(self) -> APIRouter:
        """The page routes, ``/`` among them."""
        ...

    def error(self, status: int) -> Response:
        """A page for an HTTP status."""
        ...

    def refused(self, status: int, sentence: str, *, lessons: bool = False) -> Response:
        """A page that says why a link cannot be followed."""
        ...


def create_app(
    *,
    hub: Hub,
    journal: Journal,
    pods: api.Pods,
    state: Callable[[], SessionState],
    metrics: Callable[[], str],
    access: Access,
    version: str,
    pages: Pages | None = None,
    static: Path | None = None,
    desk: Desk | None = None,
    parts: Sequence[Part] = (),
) -> Guard:
    """The guarded application.

    Args:
        hub: feeds the WebSocket.
        journal: answers ``/api/v1/records``.
        pods: the pods as the journal tells them.
        state: the header's state now.
        metrics: renders ``/metrics``.
        access: who may come in.
        version: plegscope's own.
        pages: documents and error pages; without them errors are JSON.
        static: directory served below ``/static``.
        desk: where faults are pressed on a simulated node; None for any other.
        parts: what else is served.
    """
    app = FastAPI(
        title="plegscope",
        version=version,
        description=DESCRIPTION,
        openapi_url=API_DOCUMENT,
        # The usual documentation pages load their scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.include_router(
        api.router(journal=journal, pods=pods, state=state, metrics=metrics, version=version)
    )
    answers = dict(api.ANSWERS)
    if desk is None:
        app.include_router(faults.no_router())
    else:
        answers |= faults.ANSWERS
        app.include_router(faults.router(desk, state, faults.Allowance()))
    app.add_exception_handler(body.Refused, faults.refused)
    for part in parts:
        app.include_router(part.router)
        answers |= part.answers
    asked = () if desk is None else (faults.PressOrder,)
    app.openapi = describe(app, answers, asked)  # type: ignore[method-assign] # FastAPI's documented way

    @app.websocket("/ws")
    async def live(socket: WebSocket) -> None:
        await serve_viewer(socket, hub)

    if pages is not None:
        app.include_router(pages.router())
    if static is not None:
        app.mount("/static", Files(static), name="static")
    page = None if pages is None else pages.error
    _answer_errors(app, page)
    _answer_links(app, pages)
    changes = [*(() if desk is None else faults.PATHS)]
    changes += [path for part in parts for path in part.changes]
    doors = [part.is_door for part in parts if part.is_door is not None]
    return Guard(
        app, access, page, tuple(changes), lambda path: any(is_door(path) for is_door in doors)
    )


def _answer_errors(app: FastAPI, page: Callable[[int], Response] | None) -> None:
    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        sentence = NOT_FOUND if error.status_code == 404 else f"{error.detail}. {NOT_FOUND}"
        return refuse(request.scope, error.status_code, sentence, page)

    @app.exception_handler(RequestValidationError)
    async def unusable(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return refuse(request.scope, 422, explain(error), None)

    @app.exception_handler(Exception)
    async def mistaken(request: Request, _error: Exception) -> Response:
        # The guard logs it.
        return refuse(request.scope, 500, MISTAKE, page)


def _answer_links(app: FastAPI, pages: Pages | None) -> None:
    @app.exception_handler(StageError)
    async def unplayable(request: Request, error: Exception) -> Response:
        status = 404 if isinstance(error, StageUnknown) else 422
        if isinstance(error, StageBusy):
            status = 503
        if pages is not None and wants_page(request.scope):
            lessons = request.url.path.startswith("/lessons")
            return pages.refused(status, str(error), lessons=lessons)
        return Json(Problem(str(error)), status)


def explain(error: RequestValidationError) -> str:
    """What is wrong with a question, in sentences."""
    parts = []
    for problem in error.errors():
        field = next((str(part) for part in problem["loc"][1:]), "")
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            message = "there is no such parameter"
        parts.append(f"{field}: {message}.")
    return " ".join([*parts, f"{API_DOCUMENT} describes the parameters."])
