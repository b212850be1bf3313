"""The API: what plegscope knows, as JSON, read-only.

Questions are checked by pydantic, which also describes them in OpenAPI; answers are encoded by
msgspec and described from the same structs (see ``openapi``).
"""

from collections.abc import Callable
from typing import Annotated, Literal, Protocol

import msgspec
from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field, field_validator
from starlette.responses import Response

from app.engine.records import StreamState
from app.hub.wire import PodRow, SessionState
from app.journal.journal import Journal
from app.journal.query import KINDS, Page, query
from app.metrics.exposition import CONTENT_TYPE
from app.web.refusal import Json, Problem

MAX_RECORDS = 10_000


class Pods(Protocol):
    """The pods as the journal tells them (``PodTable``)."""

    def rows(self) -> tuple[PodRow, ...]:
        """All pods that are known now."""
        ...

    def find(self, text: str) -> frozenset[str]:
        """UIDs of the pods with this UID, name or ``namespace/name``."""
        ...


class HealthReport(msgspec.Struct, frozen=True):
    """plegscope itself is alive. ``pleg_healthy`` is what the shadow's health check says.

    That one does not change the status code: a node with an unhealthy PLEG is no reason to restart
    plegscope, which shows it. Alert on the field, or on ``plegscope_pleg_healthy``.
    """

    status: Literal["ok"]
    version: str
    pleg_healthy: bool
    pleg_message: str
    stream: StreamState
    last_seq: int


class PodsReport(msgspec.Struct, frozen=True):
    """All pods that the journal told of, those gone for at most five minutes included.

    ``t``: monotonic time of the session now (ns), which the rows' times compare with.
    """

    session: str
    t: int
    pods: tuple[PodRow, ...]


class RecordsReport(Page, frozen=True):
    """A page of the journal. Numbers of another ``session`` mean nothing in this one."""

    session: str


class RecordsQuery(BaseModel):
    """Which records."""

    model_config = ConfigDict(extra="forbid")

    since: Annotated[
        int,
        Field(ge=0, lt=2**63, description="Only records numbered above this: `next` of a page."),
    ] = 0
    limit: Annotated[int, Field(ge=1, le=MAX_RECORDS, description="At most this many records.")] = (
        1000
    )
    pod: Annotated[
        str | None,
        Field(
            max_length=1024,
            description="Only records about this pod: its UID, its name, or `namespace/name`.",
        ),
    ] = None
    kind: Annotated[
        list[str] | None,
        Field(
            max_length=100,
            description="Only records of these kinds; several by commas or by repeating: "
            + ", ".join(sorted(KINDS))
            + ".",
        ),
    ] = None

    @field_validator("kind")
    @classmethod
    def _known(cls, given: list[str] | None) -> list[str] | None:
        if given is None:
            return None
        kinds = [kind.strip() for text in given for kind in text.split(",")]
        for kind in kinds:
            if kind not in KINDS:
                known = ", ".join(sorted(KINDS))
                raise ValueError(f"There is no kind of record {kind[:80]!r}; there are {known}")
        return kinds


def router(
    *,
    journal: Journal,
    pods: Pods,
    state: Callable[[], SessionState],
    metrics: Callable[[], str],
    version: str,
) -> APIRouter:
    """The routes of the API, ``/healthz`` and ``/metrics``."""
    routes = APIRouter(default_response_class=Response)

    @routes.get("/healthz", summary="Is plegscope alive?", tags=["operation"])
    async def healthz() -> Response:
        """Answers 200 as long as plegscope itself works; no token is needed."""
        engine = state().engine
        return Json(
            HealthReport(
                status="ok",
                version=version,
                pleg_healthy=engine.health.healthy,
                pleg_message=engine.health.message,
                stream=engine.stream.state,
                last_seq=journal.last_seq,
            )
        )

    @routes.get("/metrics", summary="Metrics for Prometheus", tags=["operation"])
    async def prometheus() -> Response:
        """Text format 0.0.4: the kubelet's PLEG metrics by their exact names, as the shadow has
        them, and plegscope's own; no token is needed."""
        return Response(metrics(), headers={"Content-Type": CONTENT_TYPE})

    @routes.get("/api/v1/state", summary="Everything the header shows", tags=["node"])
    async def session_state() -> Response:
        """Health, stream, queue, counters, own cost."""
        return Json(state())

    @routes.get("/api/v1/pods", summary="The pods", tags=["node"])
    async def all_pods() -> Response:
        """One row for each pod, as the journal told of it."""
        now = state()
        return Json(PodsReport(now.session, now.engine.t, pods.rows()))

    @routes.get(
        "/api/v1/records",
        summary="What happened, in order",
        tags=["node"],
        responses={422: {"description": "A parameter cannot be used."}},
    )
    async def records(asked: Annotated[RecordsQuery, Query()]) -> Response:
        """Records of the journal, oldest first. Follow by asking again with `since` set to the
        answer's `next`; `missed` tells how many records came after `since` but are not kept any
        more."""
        uids = None if asked.pod is None else pods.find(asked.pod) | {asked.pod}
        page = query(journal, asked.since, asked.limit, uids, asked.kind)
        return Json(RecordsReport(**msgspec.structs.asdict(page), session=state().session))

    return routes


ANSWERS: dict[tuple[str, str], type[msgspec.Struct]] = {
    ("/healthz", "200"): HealthReport,
    ("/api/v1/state", "200"): SessionState,
    ("/api/v1/pods", "200"): PodsReport,
    ("/api/v1/records", "200"): RecordsReport,
    ("/api/v1/records", "422"): Problem,
}
"""What is answered where, for OpenAPI."""
