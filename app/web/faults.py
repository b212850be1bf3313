"""Pressing faults on a simulated node: who may, how often, in which form, and the API of it.

There is nothing of this where a real runtime is watched: plegscope never touches a real node. That
a request comes from a page of ours is the guard's business; here its body is checked. Nothing is
believed of it: kind, size and time are bounded, and so is how often anybody presses.
"""

import asyncio
import math
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.errors import SettingsError
from app.hub.wire import FaultAtWork, SessionState
from app.values import parse_duration
from app.web.body import MOST_BYTES, Refused, read_body
from app.web.desk import ButtonLike, Desk, PressedLike
from app.web.refusal import Json, Problem, refuse

KINDS = ("application/json", "application/x-www-form-urlencoded")

PATHS = ("/faults", "/api/v1/faults")
"""The addresses that take more than GET, of a simulated node."""

BURST = 20
PER_SECOND = 5.0
"""So much may be pressed, lifted and healed at once, and then as fast as this."""

NOTHING_HERE = (
    "There is nothing to press here: plegscope never touches a real node. `plegscope demo` shows a "
    "simulated one, with faults on demand."
)
UNKNOWN_KIND = "Send a press as application/json, or as a form (application/x-www-form-urlencoded)."
NO_OBJECT = "This is no JSON object. /api/v1/openapi.json describes what is to be sent here."
TOO_LARGE = (
    f"This is more than {MOST_BYTES} bytes. /api/v1/openapi.json describes what is to be sent here."
)
TOO_OFTEN = "This is pressed too often. Wait a second, and press again."
NOT_AT_WORK = "No fault with this number is at work any more. /api/v1/faults lists those that are."


class PressOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Press ``name`` now, on the pod ``target`` (``namespace/name``) if it is about one.

    ``for``: how long a fault is to be at work, such as ``"30s"``; left out, as long as the palette
    says. Times are of the simulated node.
    """

    name: str
    target: str = ""
    lasts: str = msgspec.field(default="", name="for")


class PaletteButton(msgspec.Struct, frozen=True):
    """One thing that can be pressed. ``target``: about no pod (``none``), about one or all
    (``any``), or about one (``pod``). ``lasts_ns`` None: it happens once."""

    name: str
    text: str
    group: str
    does: str
    imitates: str
    lasts_ns: int | None
    target: str


class FaultsReport(msgspec.Struct, frozen=True):
    """What can be pressed, on which pods, and what is at work.

    ``t``: monotonic time of the session now (ns), which the times compare with.
    """

    session: str
    t: int
    palette: tuple[PaletteButton, ...]
    pods: tuple[str, ...]
    at_work: tuple[FaultAtWork, ...]


class PressReport(msgspec.Struct, frozen=True):
    """What was pressed; ``number`` None: it happened once, and there is nothing to lift."""

    number: int | None
    name: str
    text: str
    target: str
    since_t: int
    until_t: int | None
    imitates: str


class LiftReport(msgspec.Struct, frozen=True):
    """How many faults were ended."""

    lifted: int


BODY = {
    "requestBody": {
        "required": True,
        "content": {
            kind: {"schema": {"$ref": "#/components/schemas/PressOrder"}} for kind in KINDS
        },
    }
}
"""The body of a press, for OpenAPI."""


class Allowance:
    """So much at once, and then as fast as it grows back; time from the running loop."""

    def __init__(self, burst: int = BURST, per_second: float = PER_SECOND) -> None:
        self._burst = burst
        self._per_second = per_second
        self._left = float(burst)
        self._counted = 0.0

    def take(self) -> None:
        """Use one.

        Raises:
            Refused: none is left.
        """
        now = asyncio.get_running_loop().time()
        grown = (now - self._counted) * self._per_second
        self._left, self._counted = min(self._burst, self._left + grown), now
        if self._left < 1:
            wait = math.ceil((1 - self._left) / self._per_second)
            raise Refused(429, TOO_OFTEN, {"Retry-After": str(wait)})
        self._left -= 1


async def fields(request: Request) -> dict[str, Any]:
    """What a JSON object or a form holds, by name.

    Raises:
        Refused: it is of another kind, too large, too slow, or cannot be read.
    """
    kinds = request.headers.getlist("content-type")
    kind = kinds[0].partition(";")[0].strip().lower() if len(kinds) == 1 else ""
    if kind not in KINDS:
        raise Refused(415, UNKNOWN_KIND)
    body = await read_body(request, TOO_LARGE)
    if kind == "application/json":
        try:
            return msgspec.json.decode(body, type=dict[str, Any])
        except (msgspec.DecodeError, RecursionError):
            raise Refused(422, NO_OBJECT) from None
    try:
        pairs = parse_qsl(
            body.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=10
        )
    except ValueError:
        raise Refused(422, "This form cannot be read. Load the page again, and press.") from None
    given = dict(pairs)
    if len(given) < len(pairs):
        raise Refused(422, "A field of this form came twice. Load the page again, and press.")
    return given


def press(desk: Desk, given: Mapping[str, Any]) -> PressedLike:
    """Press what somebody asks for.

    Raises:
        Refused: it cannot be pressed, with the reason.
    """
    try:
        order = msgspec.convert(given, PressOrder)
    except msgspec.ValidationError as error:
        raise Refused(422, f"{error}. A press has a `name`, a `target` and a `for`.") from None
    try:
        lasts = parse_duration(order.lasts) if order.lasts else None
        return desk.press(order.name, order.target, lasts)
    except (ValueError, SettingsError) as error:
        raise Refused(422, str(error)) from None


def at_work(desk: Desk) -> tuple[FaultAtWork, ...]:
    """The faults that are at work, as they are sent."""
    return tuple(
        FaultAtWork(
            number=one.number,
            name=one.name,
            text=one.text,
            target=one.target,
            since_t=one.since_t,
            until_t=one.until_t,
            imitates=one.imitates,
        )
        for one in desk.at_work()
        if one.number is not None
    )


def lift(desk: Desk, number: str) -> int:
    """End one fault, whose number somebody has written.

    Raises:
        Refused: none of that number is at work.
    """
    if not (number.isascii() and number.isdigit() and len(number) < 16 and desk.lift(int(number))):
        raise Refused(404, NOT_AT_WORK)
    return 1


def router(desk: Desk, state: Callable[[], SessionState], allowance: Allowance) -> APIRouter:
    """The API of the faults."""
    routes = APIRouter(default_response_class=Response, prefix="/api/v1/faults", tags=["faults"])

    @routes.get("", summary="What can be pressed, and what is at work")
    async def faults() -> Response:
        """The palette, the pods there are, and the faults at work with their ends."""
        now = state()
        palette = tuple(map(_shown, desk.palette))
        pods = tuple(desk.targets())
        return Json(FaultsReport(now.session, now.engine.t, palette, pods, at_work(desk)))

    @routes.post("", summary="Press", openapi_extra=BODY)
    async def press_one(request: Request) -> Response:
        """Carried out at once. A fault ends by itself; its number lifts it before."""
        given = await fields(request)
        allowance.take()
        one = press(desk, given)
        return Json(
            PressReport(
                number=one.number,
                name=one.name,
                text=one.text,
                target=one.target,
                since_t=one.since_t,
                until_t=one.until_t,
                imitates=one.imitates,
            )
        )

    @routes.post("/heal", summary="Back to normal")
    @routes.delete("", summary="Back to normal")
    async def heal() -> Response:
        """End all faults that are at work; those which the scenario has yet to bring still come."""
        allowance.take()
        return Json(LiftReport(desk.heal()))

    @routes.delete("/{number}", summary="Lift one fault")
    async def lift_one(number: str) -> Response:
        """End one fault now."""
        allowance.take()
        return Json(LiftReport(lift(desk, number)))

    return routes


def _shown(one: ButtonLike) -> PaletteButton:
    # A duration of the simulation is a kind of number of its own.
    lasts = None if one.lasts is None else int(one.lasts)
    return PaletteButton(one.name, one.text, one.group, one.does, one.imitates, lasts, one.target)


def no_router() -> APIRouter:
    """Where nothing is simulated there is nothing to press, which is said."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/faults")
    @routes.get("/api/v1/faults")
    async def faults() -> Response:
        raise Refused(404, NOTHING_HERE)

    return routes


ANSWERS: dict[tuple[str, str], type[msgspec.Struct]] = {
    ("GET /api/v1/faults", "200"): FaultsReport,
    ("POST /api/v1/faults", "200"): PressReport,
    ("POST /api/v1/faults", "422"): Problem,
    ("POST /api/v1/faults", "429"): Problem,
    ("POST /api/v1/faults/heal", "200"): LiftReport,
    ("DELETE /api/v1/faults", "200"): LiftReport,
    ("DELETE /api/v1/faults/{number}", "200"): LiftReport,
    ("DELETE /api/v1/faults/{number}", "404"): Problem,
}
"""What is answered where, for OpenAPI."""


def refused(request: Request, error: Exception) -> Response:
    """The answer to a press that is not carried out."""
    assert isinstance(error, Refused)
    return refuse(request.scope, error.status, error.sentence, None, error.headers)
