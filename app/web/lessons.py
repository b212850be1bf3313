"""Lessons: their list, and each lesson's page, step by step.

A step's address holds everything that its page shows: the step, an answer where one was given, what
was pressed in the last one. So a step can be linked to, left and resumed, and everything works as
plain links and forms; with scripts the same addresses give the panel alone (``HX-Request``).

A teacher opens a lesson with ``?class=new`` and gets an address with the class's key in it; what
this page shows then is what the class is asked (see ``classroom``).
"""

from collections.abc import Sequence
from typing import Annotated, Any, Protocol
from urllib.parse import urlencode

import msgspec
from fastapi import APIRouter, Header, Query
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.engine.profiles import PROFILES
from app.errors import StageError, StageUnknown
from app.web import classroom
from app.web.classroom import ClassroomLike, students_address, tally_of
from app.web.compare import ComparingStage
from app.web.part import Part
from app.web.runs import StagePages, while_there

MOST_PRESSES = 20

FROM_ELSEWHERE = (
    "A class is opened from the page of its lesson. Open the lesson, and begin a class there."
)


class LessonsLike(Protocol):
    """What the web asks of lessons. A refusal is a ``StageError`` with a sentence for people."""

    def cards(self) -> Sequence[Any]:
        """All lessons, in order: ``name``, ``title``, ``know``, ``steps``, ``questions``."""
        ...

    def titles(self, name: str) -> Sequence[tuple[str, str]]:
        """(kind, title) of each of a lesson's steps."""
        ...

    async def step(
        self, name: str, number: int, *, choice: str = "", at: int | None = None, show: bool = False
    ) -> Any:
        """A step as ``StepView`` (``app.stage.lesson``), with what came of an answer."""
        ...

    async def broken(self, name: str, profile: str, presses: Sequence[str]) -> Any:
        """The last step as ``BreakView``, with what was pressed."""
        ...

    async def law(
        self, name: str, number: int, t: int, profile: str = "", presses: Sequence[str] = ()
    ) -> Any:
        """The law at any moment of what a step shows, as ``LawView``."""
        ...

    def press(self, name: str, at: int, button: str, target: str) -> str:
        """A press as it stands in a link."""
        ...


Press = Annotated[str, Field(max_length=400)]


class TeachingStage(ComparingStage, Protocol):
    """A stage on which lessons are held."""

    @property
    def lessons(self) -> LessonsLike:
        """Who holds them."""
        ...


class StepQuery(BaseModel):
    """Which step, and what was answered or pressed."""

    model_config = ConfigDict(extra="ignore")

    step: Annotated[int, Field(ge=1, le=99)] = 1
    choice: Annotated[str, Field(max_length=40)] = ""
    at: Annotated[int, Field(ge=0, lt=2**53)] | None = None
    show: bool = False
    taken: Annotated[str, Field(max_length=80)] = Field(default="", alias="class")
    profile: Annotated[str, Field(max_length=20)] = ""
    press: Annotated[
        list[Annotated[str, Field(max_length=400)]], Field(max_length=MOST_PRESSES)
    ] = []
    name: Annotated[str, Field(max_length=60)] = ""
    """A button that was pressed just now."""
    ended: bool = False
    """Its class has just been ended."""
    t: Annotated[int, Field(ge=0, lt=2**53)] = 0
    target: Annotated[str, Field(max_length=400)] = ""

    def address(self, lesson: str, **more: object) -> str:
        """The address of a step of this lesson, in the class if there is one."""
        pairs = [(key, str(value)) for key, value in more.items() if value not in (None, "", False)]
        if self.taken and self.taken != "new":
            pairs.append(("class", self.taken))
        return f"/lessons/{lesson}?{urlencode(pairs)}"

    def fork(self, lesson: str, profile: str, presses: Sequence[str]) -> str:
        """The address of this step with these presses, under this design."""
        pairs = [("step", str(self.step)), ("profile", profile)]
        pairs += [("press", one) for one in presses]
        pairs += [("class", self.taken)] if self.taken else []
        query = urlencode([(key, value) for key, value in pairs if value], safe="!/")
        return f"/lessons/{lesson}?{query}"


def router(desk: LessonsLike, room: ClassroomLike, rendered: StagePages) -> APIRouter:
    """The routes below ``/lessons``."""
    routes = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
    pages = _Pages(desk, room, rendered)

    @routes.get("/lessons")
    async def listed(hx_request: Annotated[str, Header()] = "") -> HTMLResponse:
        return rendered.page("lessons.html", partial=hx_request == "true", cards=desk.cards())

    @routes.get("/lessons/{lesson}")
    async def one(
        lesson: str,
        request: Request,
        asked: Annotated[StepQuery, Query()],
        sec_fetch_site: Annotated[str, Header()] = "",
    ) -> Response:
        if asked.taken == "new":
            desk.titles(lesson)
            if sec_fetch_site not in ("", "none", "same-origin"):
                raise StageError(FROM_ELSEWHERE)
            made = room.open(lesson)
            return RedirectResponse(f"/lessons/{lesson}?step={asked.step}&class={made.key}", 303)
        return await pages.step(lesson, request, asked)

    @routes.get("/lessons/{lesson}/law")
    async def law(lesson: str, asked: Annotated[StepQuery, Query()]) -> HTMLResponse:
        """The law while the cursor moves: at ``t``."""
        view = await desk.law(lesson, asked.step, asked.t, asked.profile, asked.press)
        return rendered.page("lesson-law.html", partial=False, law=view, oob=False)

    return routes


class _Pages:
    """Renders a lesson's steps."""

    def __init__(self, desk: LessonsLike, room: ClassroomLike, rendered: StagePages) -> None:
        self._desk = desk
        self._room = room
        self._rendered = rendered

    async def step(self, lesson: str, request: Request, asked: StepQuery) -> Response:
        """The page of a step, or its panel alone."""
        titles = self._desk.titles(lesson)
        if asked.step > len(titles):
            raise StageUnknown(f"This lesson has {len(titles)} steps; open one of them.")
        taken, ended = None, asked.ended
        if asked.taken and self._room.has_ended(asked.taken):
            # Back into a class that is over: the lesson goes on without it.
            ended, asked = True, asked.model_copy(update={"taken": ""})
        elif asked.taken:
            taken = self._room.with_key(asked.taken)
        if taken is not None and taken.lesson != lesson:
            raise StageError("This class is about another lesson. Open the address it began with.")
        students, reachable = None, True
        if taken is not None:
            students, reachable = await students_address(request, taken.code)
        shared: dict[str, Any] = {
            "titles": titles,
            "asked": asked,
            "taken": taken,
            "ended": ended,
            "students": students,
            "reachable": reachable,
        }
        if titles[asked.step - 1][0] == "break":
            return await self._break(lesson, request, shared)
        work = self._desk.step(
            lesson, asked.step, choice=asked.choice, at=asked.at, show=asked.show
        )
        view = await while_there(request, work)
        if view is None:
            return Response(status_code=204)
        answered = view.ask is not None and view.ask.outcome is not None
        if taken is not None:
            taken.go_to(view.number, shown=answered, now=self._room.now)
            if view.ask is not None:
                shared["tally"] = tally_of(taken, view)
        return self._page(request, view, shared, shown=view.shown, law=view.law, broken=None)

    async def _break(self, lesson: str, request: Request, shared: dict[str, Any]) -> Response:
        """The last step: what is pressed becomes part of the address."""
        asked: StepQuery = shared["asked"]
        if asked.name:
            made = self._desk.press(lesson, asked.t, asked.name, asked.target)
            if len(asked.press) >= MOST_PRESSES:
                raise StageError(f"{MOST_PRESSES} presses are enough; take some of them away.")
            asked = asked.model_copy(update={"press": [*asked.press, made], "name": ""})
            if not _is_partial(request):
                return RedirectResponse(asked.fork(lesson, asked.profile, asked.press), 303)
            shared = {**shared, "asked": asked}
        view = await while_there(request, self._desk.broken(lesson, asked.profile, asked.press))
        if view is None:
            return Response(status_code=204)
        if shared["taken"] is not None:
            shared["taken"].go_to(view.step.number, shown=False, now=self._room.now)
        law = next(one.law for one in view.verdicts if one.chosen) if view.presses else None
        return self._page(
            request, view.step, shared, shown=view.shown, law=law or view.step.law, broken=view
        )

    def _page(
        self,
        request: Request,
        view: Any,
        shared: dict[str, Any],
        *,
        shown: Any,
        law: Any,
        broken: Any,
    ) -> HTMLResponse:
        asked: StepQuery = shared["asked"]
        context = {
            "tally": None,
            **shared,
            "view": view,
            "shown": shown,
            "law": law,
            "broken": broken,
            "profile": PROFILES[shown.profile],
            "state": {"title": view.lesson_title, "speed": 1},
            "facts": msgspec.json.encode(_facts(view, shown)).decode(),
            "here": _here(asked, view),
            "address": lambda number, **more: asked.address(view.lesson, step=number, **more),
            "forked": lambda profile, presses: asked.fork(view.lesson, profile, presses),
        }
        name = "lesson-panel.html" if _is_partial(request) else "lesson.html"
        return self._rendered.page(name, partial=False, **context)


def _is_partial(request: Request) -> bool:
    return request.headers.get("hx-request") == "true"


def _facts(view: Any, shown: Any) -> dict[str, Any]:
    """What the scripts need to know of a step."""
    ask = view.ask
    outcome = None if ask is None else ask.outcome
    return {
        "lesson": view.lesson,
        "number": view.number,
        "count": view.count,
        "kind": view.kind,
        "shown": shown,
        "ask": None
        if ask is None or not ask.moment
        else {
            "since": ask.since,
            "call": ask.since_call,
            "earliest": ask.earliest,
            "latest": ask.latest,
            "open": outcome is None,
            "you": None if outcome is None else outcome.you,
            "youText": "" if outcome is None else outcome.you_text,
            "engine": None if outcome is None else outcome.engine,
            "engineText": "" if outcome is None else outcome.engine_text,
            "apartText": "" if outcome is None else outcome.apart_text,
        },
    }


def _here(asked: StepQuery, view: Any) -> str:
    """The address of exactly what is shown."""
    if view.kind == "break":
        return asked.fork(view.lesson, asked.profile, asked.press)
    return asked.address(
        view.lesson,
        step=view.number,
        choice=asked.choice,
        at=_given(asked, view),
        show="1" if asked.show else "",
    )


def _given(asked: StepQuery, view: Any) -> int | None:
    """The moment as it counts: a slider that nobody touched is none."""
    ask = view.ask
    if ask is None or not ask.moment or asked.at is None or asked.at < ask.earliest:
        return None
    return min(asked.at, int(ask.latest))


def part(desk: LessonsLike, room: ClassroomLike, rendered: StagePages) -> Part:
    """Lessons, and the classes that are held with them."""
    routes = router(desk, room, rendered)
    routes.include_router(classroom.router(desk, room, rendered))
    return Part(routes, {}, changes=classroom.CHANGES, is_door=room.is_door)
