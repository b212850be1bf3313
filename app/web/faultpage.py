"""The palette as a page: plain forms that work without scripts, and htmx's partials of them.

A form presses with a button of its own (``press``), lifts (``lift``) or heals (``heal``). htmx gets
the sentence that tells what came of it; a plain form is sent back to the page, which shows it.
"""

from collections.abc import Callable
from itertools import groupby
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Header
from fastapi.responses import HTMLResponse
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.hub.wire import SessionState
from app.web.body import Refused
from app.web.desk import Desk
from app.web.faults import Allowance, at_work, fields, lift, press
from app.web.part import Part
from app.web.renders import RendersPages

PATH = "/faults"

WHAT = "Press a button of the palette: this form says neither `press` nor `lift` nor `heal`."


def part(
    pages: RendersPages, desk: Desk, state: Callable[[], SessionState], allowance: Allowance
) -> Part:
    """The page of the faults."""
    routes = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)

    def palette(
        *, partial: bool, said: str = "", wrong: bool = False, target: str = "", status: int = 200
    ) -> HTMLResponse:
        now = state()
        groups = [
            (desk.groups[key], list(buttons))
            for key, buttons in groupby(desk.palette, key=lambda button: button.group)
        ]
        return pages.page(
            "faults.html",
            partial=partial,
            status=status,
            said=said,
            wrong=wrong,
            target=target,
            groups=groups,
            pods=desk.targets(),
            working=at_work(desk),
            now_t=now.engine.t,
            speed=now.speed,
        )

    @routes.get(PATH)
    async def shown(
        hx_request: Annotated[str, Header()] = "", done: str = "", pod: str = ""
    ) -> HTMLResponse:
        return palette(partial=hx_request == "true", said=came_of(desk, done), target=pod)

    @routes.post(PATH)
    async def pressed(request: Request, hx_request: Annotated[str, Header()] = "") -> Response:
        partial, given = hx_request == "true", dict[str, Any]()
        try:
            given = await fields(request)
            allowance.take()
            said, number = carry_out(desk, given)
        except Refused as refused:
            said, status = refused.sentence, refused.status
            if partial:
                return told(pages, said, status=status, wrong=True)
            target = str(given.get("target", ""))
            return palette(partial=False, said=said, wrong=True, target=target, status=status)
        if partial:
            return told(pages, said, number=number)
        # Loading the page again must not press again.
        again = {"done": given.get("press", "other"), "pod": given.get("target", "")}
        return RedirectResponse(f"{PATH}?{urlencode(again)}", 303)

    return Part(routes, {})


def came_of(desk: Desk, done: str) -> str:
    """What to say after a press, when the page is loaded again. Only what the palette has: an
    address may say anything."""
    return next((f"Pressed: {one.text}." for one in desk.palette if one.name == done), "")


def carry_out(desk: Desk, given: dict[str, Any]) -> tuple[str, int | None]:
    """Do what a form asks for; what to say of it, and the number of the fault that began.

    Raises:
        Refused: it cannot be done.
    """
    if "heal" in given:
        count = desk.heal()
        return ("Back to normal." if count else "Nothing was wrong."), None
    if "lift" in given:
        lift(desk, str(given["lift"]))
        return "Lifted.", None
    if "press" not in given:
        raise Refused(422, WHAT)
    order = {"name": given["press"], "target": given.get("target", ""), "for": given.get("for", "")}
    # The page has one choice of a pod for all buttons; some are about none.
    if any(one.name == order["name"] and one.target == "none" for one in desk.palette):
        order["target"] = ""
    one = press(desk, order)
    about = f" ({one.target})" if one.target else ""
    return f"{one.text}{about}.", one.number


def told(
    pages: RendersPages,
    said: str,
    *,
    status: int = 200,
    wrong: bool = False,
    number: int | None = None,
) -> HTMLResponse:
    """What came of a press, for htmx to put where the page wants it."""
    return pages.page(
        "faults-said.html", partial=True, status=status, said=said, wrong=wrong, number=number
    )
