"""A class around a lesson: the teacher's page shows a question, everybody answers on their own
browser, the answers come in as a histogram, and then the teacher shows what the engine did.

The link with the class's code is enough to take part, also where plegscope asks for a token: the
code is as hard to guess, and it opens nothing but the question (``Classroom.is_door``). Nobody has
an account: a cookie that is drawn at random keeps one browser to one answer.
"""

import re
import secrets
from typing import Any, Protocol
from urllib.parse import parse_qsl

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.errors import StageError, StageUnknown
from app.web.access import is_loopback, is_unspecified
from app.web.body import read_body
from app.web.reach import reachable_at
from app.web.refusal import wants_page
from app.web.runs import StagePages, while_there

CHANGES = ("/class",)
"""Addresses that take POST, from our own pages."""

COOKIE = "plegscope_student"
_STUDENT = re.compile(r"[A-Za-z0-9_-]{16,64}")

UNREADABLE = "That was no answer to this question. Load the page again and answer there."


def new_secret() -> str:
    """A code or a key: 96 bits, safe in a link and short enough to be typed."""
    return secrets.token_urlsafe(12)


class ClassLike(Protocol):
    """A class that is held (``app.stage.classroom``)."""

    lesson: str
    code: str
    key: str
    step: int
    shown: bool
    version: int

    def go_to(self, step: int, *, shown: bool, now: float) -> None:
        """The teacher is at this step."""
        ...

    def reply(self, student: str, step: int | None = None) -> Any:
        """What this browser answered, or None."""
        ...

    def tally(self, step: int, earliest: int, latest: int) -> Any:
        """How a step's question was answered."""
        ...


class ClassroomLike(Protocol):
    """All classes. A refusal is a ``StageError`` with a sentence for people."""

    @property
    def now(self) -> float:
        """Monotonic seconds."""
        ...

    def open(self, lesson: str) -> ClassLike:
        """A new class."""
        ...

    def with_code(self, code: str) -> ClassLike:
        """The class with this code."""
        ...

    def with_key(self, key: str) -> ClassLike:
        """The class with this key."""
        ...

    def take(self, code: str, student: str, step: int, choice: str, at: int | None) -> None:
        """A browser answers."""
        ...

    def end(self, key: str) -> None:
        """The class with this key is over."""
        ...

    def has_ended(self, key: str) -> bool:
        """Whether a class with this key was held and is over."""
        ...

    def is_door(self, path: str) -> bool:
        """Whether an address needs no token, as it carries the code of a class."""
        ...


class Asking(Protocol):
    """Where questions come from (``LessonsLike``)."""

    async def step(
        self, name: str, number: int, *, choice: str = "", at: int | None = None, show: bool = False
    ) -> Any:
        """A step as ``StepView``."""
        ...


async def students_address(request: Request, code: str) -> tuple[str, bool]:
    """What the teacher hands out, and whether others reach it: the address under which this page
    itself was reached or, if that is this machine's only (or nobody's, as ``0.0.0.0`` is), one of
    the machine's where it is served as well."""
    host = request.headers.get("host", "")
    name = (request.url.hostname or "").strip("[]")
    reachable = not (is_loopback(name) or is_unspecified(name))
    if not reachable:
        port = request.url.port or 80
        address = await reachable_at(port)
        if address is not None:
            host, reachable = f"{address}:{port}", True
    return f"{request.url.scheme}://{host}/class/{code}", reachable


def router(desk: Asking, room: ClassroomLike, rendered: StagePages) -> APIRouter:
    """The routes below ``/class``."""
    routes = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
    pages = _Pages(desk, room, rendered)

    @routes.get("/class/{code}")
    async def page(code: str, request: Request) -> Response:
        """The page of somebody who takes part."""
        return await pages.student(request, code, "class.html")

    @routes.get("/class/{code}/now")
    async def now(code: str, request: Request, seen: str = "") -> Response:
        """The same page's inside, if anything on it has changed since version ``seen``."""
        try:
            if seen == _version(room.with_code(code), _student(request)[0]):
                return Response(status_code=204)
        except StageUnknown:
            # What a page asks for itself is put into it: it says so there, and asks no more.
            return rendered.page("class-over.html", partial=False)
        return await pages.student(request, code, "class-now.html")

    @routes.post("/class/{code}")
    async def answer(code: str, request: Request) -> Response:
        """Somebody answers."""
        return await pages.answer(request, code)

    @routes.get("/class/{key}/tally")
    async def tally(key: str, request: Request, step: int = 1) -> Response:
        """For the teacher's page: how the step was answered so far."""
        try:
            taken = room.with_key(key)
        except StageUnknown:
            return HTMLResponse("<p>This class is over.</p>", 404)
        view = await while_there(
            request, desk.step(taken.lesson, step, show=taken.shown and step == taken.step)
        )
        if view is None or view.ask is None:
            return Response(status_code=204)
        counted = tally_of(taken, view)
        return rendered.page(
            "class-tally.html", partial=False, tally=counted, view=view, taken=taken
        )

    @routes.post("/class/{key}/end")
    async def end(key: str) -> Response:
        """The teacher ends the class."""
        taken = room.with_key(key)
        room.end(key)
        return RedirectResponse(f"/lessons/{taken.lesson}?step={taken.step}&ended=1", 303)

    return routes


class _Pages:
    """What somebody who takes part is shown, and what he answers."""

    def __init__(self, desk: Asking, room: ClassroomLike, rendered: StagePages) -> None:
        self._desk = desk
        self._room = room
        self._rendered = rendered

    async def student(self, request: Request, code: str, template: str) -> Response:
        """The question, or what came of it."""
        student, fresh = _student(request)
        try:
            taken = self._room.with_code(code)
        except StageUnknown:
            return self._over()
        reply, shown = taken.reply(student), taken.shown
        choice = reply.choice if reply is not None and shown else ""
        at = reply.at if reply is not None and shown else None
        show = shown and not choice and at is None
        work = self._desk.step(taken.lesson, taken.step, choice=choice, at=at, show=show)
        view = await while_there(request, work)
        if view is None:
            return Response(status_code=204)
        page = self._rendered.page(
            template,
            partial=False,
            over=False,
            view=view,
            taken=taken,
            reply=reply,
            seen=_version(taken, student),
        )
        return _known(page, code, student) if fresh else page

    async def answer(self, request: Request, code: str) -> Response:
        """Take an answer, and go back to the page."""
        student, fresh = _student(request)
        given = await _form(request)
        try:
            taken = self._room.with_code(code)
        except StageUnknown:
            return self._over()
        step = _number(given.get("step", ""))
        choice = given.get("choice", "")[:40]
        at = _number(given.get("at", ""))
        if step is None or not (choice or at is not None):
            raise StageError(UNREADABLE)
        back = RedirectResponse(f"/class/{code}", 303)
        if wants_page(request.scope) and (step != taken.step or taken.shown):
            # Too late by a moment, which happens in every class: the page shows what is asked now.
            return back
        # The lesson knows which answers there are; what it refuses is not counted.
        view = await self._desk.step(taken.lesson, step, choice=choice, at=at)
        if at is not None and at < view.ask.earliest:
            # A slider that nobody touched.
            at = None
            if not choice:
                raise StageError(UNREADABLE)
        self._room.take(code, student, step, choice, at)
        return _known(back, code, student) if fresh else back

    def _over(self) -> Response:
        """The whole page, once there is no such class."""
        return self._rendered.page("class.html", partial=False, status=404, over=True)


def _known(answer: Response, code: str, student: str) -> Response:
    """Let this browser be known again, in this class only."""
    answer.set_cookie(COOKIE, student, path=f"/class/{code}", httponly=True, samesite="strict")
    return answer


def tally_of(taken: ClassLike, view: Any) -> Any:
    """How the question of a step was answered."""
    return taken.tally(view.number, view.ask.earliest, view.ask.latest)


def _version(taken: ClassLike, student: str) -> str:
    """Changes with what this browser is shown."""
    return f"{taken.version}.{int(taken.reply(student) is not None)}"


def _student(request: Request) -> tuple[str, bool]:
    """This browser's own random name, and whether it is a new one."""
    known = request.cookies.get(COOKIE, "")
    if _STUDENT.fullmatch(known):
        return known, False
    return secrets.token_urlsafe(18), True


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 16 else None


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form that was sent; a small one.

    Raises:
        StageError: it is none.
        Refused: it is too large, or does not come.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    body = await read_body(request, UNREADABLE)
    try:
        if kind != "application/x-www-form-urlencoded":
            raise StageError(UNREADABLE)
        return dict(parse_qsl(body.decode("ascii"), max_num_fields=20))
    except ValueError:
        raise StageError(UNREADABLE) from None
