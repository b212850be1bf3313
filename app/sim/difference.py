"""What the shadow knows, against what the runtime holds: the proof that nothing was missed."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from app.engine.engine import Engine
from app.engine.model import PLEG_STATE, ContainerStatus
from app.sim.rows import container_status
from app.sim.world import World

ABSENT = "not there"


class Difference(msgspec.Struct, frozen=True):
    """One container, sandbox or pod that is not the same on both sides.

    ``where``: the pod records (what is listed and in which of PLEG's states) or the pod cache (what
    an inspection told).
    """

    where: Literal["records", "cache"]
    uid: str
    item: str
    """Id of the container or sandbox; empty for the pod as a whole."""
    runtime: str
    shadow: str


def differences(engine: Engine, world: World) -> tuple[Difference, ...]:
    """All that differs now, pod by pod; empty when the shadow knows the runtime as it is."""
    return (*_in_records(engine, world), *_in_cache(engine, world))


def _in_records(engine: Engine, world: World) -> Iterator[Difference]:
    records = engine.pod_records()
    for uid in sorted({*records, *world.pods()}):
        truth: dict[str, str] = {one.id: PLEG_STATE[one.state] for one in world.pod_sandboxes(uid)}
        truth |= {one.id: PLEG_STATE[one.state] for one in world.pod_containers(uid)}
        pod = records.get(uid)
        known: dict[str, str] = {}
        if pod is not None:
            known = {
                one.id: one.state for one in (*pod.sandboxes.values(), *pod.containers.values())
            }
        yield from _unequal("records", uid, truth, known)


def _in_cache(engine: Engine, world: World) -> Iterator[Difference]:
    cache = engine.cache
    for uid in sorted({*cache.uids(), *world.pods()}):
        truth: dict[str, str] = {one.id: one.state for one in world.pod_sandboxes(uid)}
        truth |= {one.id: _told(container_status(one)) for one in world.pod_containers(uid)}
        entry = cache.entry(uid)
        if entry is not None and entry.error:
            yield Difference("cache", uid, "", "answers", f"inspection failed: {entry.error}")
            continue
        known: dict[str, str] = {}
        if entry is not None:
            known = {one.id: one.runtime_state for one in entry.status.sandboxes}
            known |= {one.id: _told(one) for one in entry.status.containers}
            if not truth:
                yield Difference("cache", uid, "", ABSENT, "has an entry")
        yield from _unequal("cache", uid, truth, known)


def _unequal(
    where: Literal["records", "cache"], uid: str, truth: dict[str, str], known: dict[str, str]
) -> Iterator[Difference]:
    if truth == known:
        return
    for item in sorted({*truth, *known}):
        here, there = truth.get(item, ABSENT), known.get(item, ABSENT)
        if here != there:
            yield Difference(where, uid, item, here, there)


def _told(one: ContainerStatus) -> str:
    """A container's state in a few words; the end's time counts too."""
    if one.runtime_state != "exited":
        return one.runtime_state
    return f"exited {one.exit_code} {one.reason} at {one.finished_at}"
