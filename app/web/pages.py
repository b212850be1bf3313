"""The pages: documents rendered on the server, whole or as a partial for htmx.

Every page is a plain link that works without scripts. A request that htmx made (``HX-Request``)
gets the document's inside only, to be put into a panel of the node page. Nothing here is cached:
what the journal says now is what is shown.

The timeline itself is not rendered here: ``/`` is an empty frame that ``static/js`` fills from the
WebSocket.
"""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import jinja2
from fastapi import APIRouter, Header
from fastapi.responses import HTMLResponse

from app.engine.profiles import PROFILES
from app.engine.records import AnyRecord
from app.hub.wire import PodRow, SessionState
from app.web import story
from app.web.desk import Desk
from app.web.filters import FILTERS, seen
from app.web.scripts import preloads

_ERRORS = {
    401: (
        "This page needs the address with its token.",
        (
            "plegscope printed an address when it started; open that one, token included. A token "
            "lasts until plegscope is started again."
        ),
    ),
    403: (
        "This request was refused.",
        (
            "It came with a Host or Origin that plegscope does not serve. Open the address that "
            "plegscope printed when it started."
        ),
    ),
    404: (
        "There is no such page here.",
        "The pod may be gone, or the address has a slip in it. The node page shows what there is.",
    ),
    500: (
        "plegscope made a mistake with this page.",
        (
            "The rest goes on working. The terminal it runs in says more; please report it with "
            "those lines."
        ),
    ),
}


@dataclasses.dataclass(frozen=True)
class PageData:
    """What the pages ask for; each callable is quick and does not block.

    Attributes:
        state: the session's present state, as the header shows it.
        pods: a row for every pod of the journal.
        pod_records: what the journal keeps about one pod (by UID), oldest first.
    """

    state: Callable[[], SessionState]
    pods: Callable[[], Sequence[PodRow]]
    pod_records: Callable[[str], Sequence[AnyRecord]]


@dataclasses.dataclass(frozen=True)
class StageLink:
    """There is a stage for runs. ``query``: of the run of what the node plays; empty if it plays
    something that cannot be opened by a link."""

    query: str


class Pages:
    """Renders the pages.

    Args:
        templates: directory of the Jinja2 templates.
        data: where the facts come from.
        version: plegscope's version; busts the browser's cache of ``/static``.
        stream_path: path of the WebSocket.
        stage: the run of what the node plays; None where there is no stage for runs.
        desk: where faults are pressed, on a simulated node.
        recordings: whether recordings can be played here.
        now: whether there is a page of what just happened.
        places: where a pod's page leads, by the pod's UID.
        scripts: directory of the scripts, to tell browsers early of what each brings in; None: they
            find out by themselves.
    """

    def __init__(
        self,
        templates: Path,
        data: PageData,
        *,
        version: str,
        stream_path: str = "/ws",
        stage: StageLink | None = None,
        desk: Desk | None = None,
        recordings: bool = False,
        now: bool = False,
        places: Callable[[str], story.Places] = story.live_places,
        scripts: Path | None = None,
    ) -> None:
        self._data = data
        self._places = places
        self._env = jinja2.Environment(
            # As they are now: an upgrade under a session of weeks changes no page of it.
            loader=jinja2.DictLoader(
                {path.name: path.read_text("utf-8") for path in templates.glob("*.html")}
            ),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=seen,
        )
        self._env.filters.update(FILTERS)
        self._env.globals.update(version=version, stream_path=stream_path, stage=stage, desk=desk)
        self._env.globals.update(recordings=recordings, now=now)
        self._env.globals.update(brought_in=preloads(scripts) if scripts else _unknown)

    def router(self) -> APIRouter:
        """The page routes: ``/``, ``/pods``, ``/pods/{uid}``, ``/about``, ``/help``."""
        router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)

        @router.get("/")
        async def node() -> HTMLResponse:
            return self._session_page("node.html", partial=False)

        @router.get("/help")
        async def help_page(hx_request: Annotated[str, Header()] = "") -> HTMLResponse:
            return self._session_page("help.html", partial=hx_request == "true")

        @router.get("/about")
        async def about(hx_request: Annotated[str, Header()] = "") -> HTMLResponse:
            return self._session_page("about.html", partial=hx_request == "true")

        @router.get("/pods")
        async def pods(hx_request: Annotated[str, Header()] = "") -> HTMLResponse:
            rows = sorted(
                self._data.pods(), key=lambda pod: (pod.gone_t is not None, pod.namespace, pod.name)
            )
            return self.page("pods.html", partial=hx_request == "true", pods=rows)

        @router.get("/pods/{uid:path}")
        async def pod(uid: str, hx_request: Annotated[str, Header()] = "") -> HTMLResponse:
            row = next((row for row in self._data.pods() if row.uid == uid), None)
            if row is None:
                return self.error(404)
            state = self._data.state()
            return self.pod(
                row,
                self._data.pod_records(uid),
                partial=hx_request == "true",
                places=self._places(uid),
                t=state.engine.t,
                wall=state.wall,
            )

        return router

    def pod(
        self,
        row: PodRow,
        records: Sequence[AnyRecord],
        *,
        partial: bool,
        places: story.Places,
        t: int,
        wall: int,
        then: str = "",
    ) -> HTMLResponse:
        """A pod's page at ``t`` (ns; ``wall``: ns since 1970); ``then``: that time in words, where
        it is not now."""
        found = story.lifecycle(records)
        return self.page(
            "pod.html",
            partial=partial,
            pod=row,
            chapters=story.chapters(row, found),
            story=story.tell(records),
            more=max(0, len(found) - story.MOST_TOLD),
            places=places,
            t=t,
            wall=wall,
            then=then,
        )

    def _session_page(self, name: str, *, partial: bool) -> HTMLResponse:
        """A page about the session: its state, and the profile in force (None: not known here)."""
        state = self._data.state()
        return self.page(
            name,
            partial=partial,
            state=state,
            profile=PROFILES.get(state.engine.profile),
            profiles=tuple(PROFILES.values()),
        )

    def error(self, status: int) -> HTMLResponse:
        """An error in words: what happened and what to do next, with HTTP ``status``."""
        heading, text = _ERRORS.get(status, _ERRORS[500 if status >= 500 else 404])
        return self.page(
            "error.html", partial=False, code=status, status=status, heading=heading, text=text
        )

    def refused(self, status: int, sentence: str, *, lessons: bool = False) -> HTMLResponse:
        """Why a link cannot be followed: a sentence that ends with what to do. ``lessons``: it was
        one to a lesson."""
        return self.page(
            "unplayable.html", partial=False, status=status, sentence=sentence, lessons=lessons
        )

    def page(
        self, name: str, *, partial: bool, status: int = 200, **context: object
    ) -> HTMLResponse:
        """The template ``name``, whole or (``partial``) its inside only."""
        layout = "partial.html" if partial else "page.html"
        html = self._env.get_template(name).render(layout=layout, page=name, **context)
        headers = {"Vary": "HX-Request", "Cache-Control": "no-store"}
        return HTMLResponse(html, status_code=status, headers=headers)


def _unknown(_entry: str) -> tuple[str, ...]:
    """What a script brings in where nobody has looked."""
    return ()
