"""The pages of recordings: the one that plays, the list of those in reach, what is exported, and a
pod as it was."""

from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple, cast

from fastapi import APIRouter, Header
from fastapi.responses import HTMLResponse
from starlette.responses import RedirectResponse, Response

from app.engine.profiles import PROFILES
from app.errors import RecordingError
from app.web import received, replaynow, replaypod
from app.web.library import Files, LibraryLike, Node, names_of, query_of, status_of
from app.web.part import Part
from app.web.renders import RendersPods


class Film(NamedTuple):
    """What the page's template wants to know of what is played."""

    query: str
    title: str
    name: str
    node: int
    nodes: Sequence[object]
    duration_ns: int


class _Title(NamedTuple):
    """What the node page's template wants to know of a state."""

    title: str
    speed: float = 1.0


def pages(library: LibraryLike, rendered: RendersPods, *, home: bool) -> Part:
    """The page that plays a recording, and the list.

    ``home``: plegscope was started to play, so ``/`` plays what was given, or leads to the list.
    """
    routes = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)

    async def play(
        file: Files = [],  # noqa: B006
        node: Node = 0,
    ) -> HTMLResponse:
        try:
            files = names_of(file)
            told = await library.told(files, node, 0)
        except RecordingError as error:
            return rendered.refused(status_of(error), str(error))
        film = Film(
            query=query_of(files, node),
            title=told.title,
            name=told.name,
            node=node,
            nodes=told.nodes,
            duration_ns=told.end_t,
        )
        return rendered.page(
            "replay.html",
            partial=False,
            run=film,
            drops=home,
            film=film,
            files=files,
            state=_Title(told.title),
            profile=PROFILES.get(told.state.engine.profile),
        )

    routes.add_api_route("/replay", play, methods=["GET"])

    async def front(
        file: Files = [],  # noqa: B006
        node: Node = 0,
    ) -> Response:
        if file or library.was_given:
            return await play(file, node)
        return RedirectResponse("/recordings", 303)

    if home:
        routes.add_api_route("/", front, methods=["GET"])

    @routes.get("/recordings")
    async def listing(hx_request: Annotated[str, Header()] = "") -> HTMLResponse:
        return rendered.page(
            "recordings.html",
            partial=hx_request == "true",
            list=await library.listing(),
            counted=home,
            query_of=cast("Callable[..., str]", query_of),
        )

    replaynow.add(
        routes,
        library,
        rendered,
        names=names_of,
        query_of=query_of,
        refused=lambda error: rendered.refused(status_of(error), str(error)),
        home=None if not home else replaynow.PATH if library.was_given else "/recordings",
    )

    @routes.get("/recordings/export")
    async def export(
        file: Files = [],  # noqa: B006
        node: Node = 0,
    ) -> HTMLResponse:
        try:
            files = names_of(file)
            paths = await library.paths(files)
            # Of one file it is not opened: it has one node.
            nodes = (await library.told(files, node, 0)).nodes if len(paths) > 1 else ()
        except RecordingError as error:
            return rendered.refused(status_of(error), str(error))
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        return rendered.page(
            "replay-export-page.html",
            partial=False,
            title=f"{paths[0].name}{more}",
            query=query_of(files, node),
            files=files,
            node=node,
            nodes=nodes,
        )

    return Part(routes, {})


def pods(library: LibraryLike, rendered: RendersPods) -> Part:
    """A pod of a recording, and what the runtime had said of it."""
    said = received.of_recordings(library, rendered, names_of)
    pod = replaypod.part(library, rendered, names=names_of, query_of=query_of, status=status_of)
    said.router.include_router(pod.router)
    return Part(said.router, {**said.answers, **pod.answers})
