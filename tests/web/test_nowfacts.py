"""What is told of the first minute: the right deaths, the slowest call, each container."""

from __future__ import annotations

import re
from typing import get_args

import msgspec

from app.engine.inputs import FailCode
from app.engine.records import Record
from app.engine.state import HealthState, RelistState
from app.hub.wire import OldestCall, SessionState
from app.journal.journal import Journal
from app.resources import static_dir
from app.web import nowfacts
from tests.build import SECOND, died, engine_state, note, relist_finished, session_state, stop_event
from tests.web.test_pages import container, pod

PODS = [pod("u1", name="web-1"), pod("u2", name="db-0")]


def state(**engine: object) -> SessionState:
    t = 400 * SECOND
    return session_state(engine_state(t, **engine))


def changed(record: Record, **fields: object) -> Record:
    return msgspec.structs.replace(record, **fields)


def test_recent_records_are_those_from_a_time_on() -> None:
    journal = Journal(capacity=10_000)
    for t in range(5000):
        journal.append(note(t))
    assert [record.t for record in nowfacts.recent(journal, 4998)] == [4998, 4999]
    assert len(nowfacts.recent(journal, 1000)) == 4000
    assert len(nowfacts.recent(journal, -1)) == 5000
    assert nowfacts.recent(Journal(), 0) == ()


def test_deaths_come_newest_first_with_whose_they_are() -> None:
    records = [died("u1", 100), changed(died("u2", 200), container_id="c2"), stop_event()]
    first, second = nowfacts.deaths(records, PODS, 300)
    assert (first.pod, first.ago_ns) == ("db-0", 100)
    assert (second.pod, second.namespace, second.ago_ns) == ("web-1", "shop", 200)


def test_a_death_is_told_once_as_it_was_first_noticed() -> None:
    (only,) = nowfacts.deaths([died(t=100), changed(died(t=200), source="global")], PODS, 300)
    assert only.record.t == 100


def test_what_is_no_news_is_no_death() -> None:
    none = [
        changed(died(), is_sandbox=True),
        changed(died(), baseline=True),
        died(delivery="filtered"),
        changed(died(), type="ContainerStarted"),
    ]
    assert nowfacts.deaths(none, PODS, 300) == []
    assert len(nowfacts.deaths([died(delivery="discarded")], PODS, 300)) == 1


def test_a_pod_that_is_forgotten_has_no_name() -> None:
    (only,) = nowfacts.deaths([died("u9")], PODS, 300)
    assert (only.uid, only.pod, only.namespace) == ("u9", "", "")


def test_deaths_are_counted_by_how_they_were_found() -> None:
    records = [
        changed(died(), container_id="a", after_ns=2),
        changed(died(), container_id="b", after_ns=4),
        changed(died(), container_id="c", source="global"),
        changed(died(), container_id="d", source="post_sync"),
        changed(died(), container_id="e", relist=0),
    ]
    assert nowfacts.by_finding(nowfacts.deaths(records, PODS, 300)) == [
        ("found by a hint", 2, 3),
        ("only by the global relist", 1, None),
        ("after a sync", 1, None),
        ("by a believed event", 1, None),
    ]


def test_the_slowest_call_is_of_the_pod_that_was_inspected() -> None:
    records = [
        changed(relist_finished(1), slowest_method="ListContainers", slowest_ns=5),
        changed(
            relist_finished(2), slowest_method="ContainerStatus", slowest_ns=9, slowest_uid="u2"
        ),
        changed(relist_finished(3, uid="u1"), slowest_method="ListPodSandbox", slowest_ns=7),
        relist_finished(4),
    ]
    worst = nowfacts.slowest(records, PODS, state())
    assert worst is not None
    assert (worst.method, worst.took_ns, worst.uid, worst.pod) == (
        "ContainerStatus",
        9,
        "u2",
        "db-0",
    )
    assert (worst.relist, worst.waiting, worst.ago_ns) == (2, False, 400 * SECOND - 5_000_000)


def test_a_call_about_one_pod_is_its_own_and_a_list_of_all_is_nobodys() -> None:
    one = changed(relist_finished(3, uid="u1"), slowest_method="ListPodSandbox", slowest_ns=7)
    found = nowfacts.slowest([one], PODS, state())
    assert found is not None
    assert (found.uid, found.pod) == ("u1", "web-1")
    every = changed(relist_finished(3), slowest_method="ListPodSandbox", slowest_ns=7)
    found = nowfacts.slowest([every], PODS, state())
    assert found is not None
    assert (found.uid, found.pod) == ("", "")


def test_a_call_that_does_not_come_back_is_slower_than_all() -> None:
    running = RelistState(7, "pod", "evented_pleg", 0, "u1")
    hangs = msgspec.structs.replace(
        state(running=running), oldest_call=OldestCall("ContainerStatus", 380 * SECOND, True)
    )
    done = changed(relist_finished(1), slowest_method="ListContainers", slowest_ns=30 * SECOND)
    worst = nowfacts.slowest([done], PODS, hangs)
    assert worst == ("ContainerStatus", 20 * SECOND, "u1", "web-1", 0, 7, True, True)
    short = msgspec.structs.replace(
        hangs, oldest_call=OldestCall("Version", 400 * SECOND - 5, False)
    )
    worst = nowfacts.slowest([done], PODS, short)
    assert worst is not None
    assert worst.method == "ListContainers"
    assert nowfacts.slowest([], PODS, state()) is None


def test_each_container_has_a_row_with_its_newest_attempt_and_last_end() -> None:
    there = [
        pod(
            "u1",
            name="web-1",
            containers=(
                container(name="b", id="new", attempt=2, runtime_state="running", exit_code=None),
                container(name="b", id="old", attempt=1, exit_code=1),
                container(name="a", id="over", attempt=0, exit_code=0),
            ),
        ),
        pod("u0", name="alone", namespace="aaa", containers=(container(name="c", id="x"),)),
        pod("u3", gone_t=5, containers=(container(),)),
    ]
    rows = nowfacts.rows(there)
    assert [(row.pod, row.status.name, row.status.id) for row in rows] == [
        ("alone", "c", "x"),
        ("web-1", "a", "over"),
        ("web-1", "b", "new"),
    ]
    assert [row.end and row.end.id for row in rows] == ["x", "over", "old"]


def test_the_verdict_follows_the_state() -> None:
    def word(**engine: object) -> str:
        return nowfacts.verdict(state(**engine)).word

    never = HealthState(True, "", None, 180 * SECOND, None)
    long_ago = HealthState(True, "", 0, 180 * SECOND, None)
    ill = HealthState(False, "", 399 * SECOND, 180 * SECOND, None)
    assert word() == "Healthy."
    assert word(pace_ns=2 * SECOND) == "Healthy, slowed down."
    failed = RelistState(7, "global", "global", 399 * SECOND, None, 5_000_000, ok=False)
    assert word(last_global=failed) == "Healthy."
    before = HealthState(True, "", 380 * SECOND, 180 * SECOND, None)
    assert word(last_global=failed, health=before) == "Healthy, but relists fail."
    assert word(health=never) == "Starting."
    early = session_state(engine_state(4 * SECOND, health=never, last_global=failed))
    assert nowfacts.verdict(early).word == "Starting."
    assert word(health=never, last_global=failed) == "No relist succeeds."
    assert word(health=long_ago) == word(health=ill) == "Unhealthy."
    assert word(running=RelistState(7, "global", "global", 300 * SECOND)) == "Runtime hung."
    assert word(running=RelistState(7, "global", "global", 399 * SECOND)) == "Healthy."


def test_the_verdict_has_its_figures() -> None:
    last = RelistState(7, "global", "global", 398 * SECOND, None, 5_000_000)
    health = HealthState(True, "", 398 * SECOND, 180 * SECOND, None)
    told = nowfacts.verdict(state(last_global=last, health=health))
    assert (told.icon, told.since_ns, told.took_ns, told.limit_ns) == (
        *("ok", 2 * SECOND, 5_000_000),
        180 * SECOND,
    )


def test_a_node_whose_stream_brings_stops_is_not_dead_though_a_call_hangs() -> None:
    hangs = msgspec.structs.replace(state(), oldest_call=OldestCall("Version", 380 * SECOND, True))
    stop = changed(stop_event(), t=390 * SECOND)
    early = changed(stop_event(), t=370 * SECOND)
    late = changed(stop, backlog=True)
    assert nowfacts.verdict(hangs, [stop]).word == "Calls hang, events come."
    assert nowfacts.verdict(hangs, [early, late]).word == "Runtime hung."


def test_relists_that_fail_say_what_the_runtime_does() -> None:
    failed = RelistState(7, "global", "global", 399 * SECOND, None, 5_000_000, ok=False)
    before = HealthState(True, "", 380 * SECOND, 180 * SECOND, None)

    def fact(code: FailCode | None) -> str:
        last = msgspec.structs.replace(failed, code=code)
        told = nowfacts.verdict(state(last_global=last, health=before))
        # How long a failed call took is no measure of the node.
        assert (told.word, told.took_ns, told.usual) == ("Healthy, but relists fail.", None, None)
        return told.fact

    assert fact("unreachable") == "The runtime cannot be reached"
    assert fact("silent") == "The runtime does not answer in time"
    # A recording of an earlier version does not tell.
    assert fact("error") == fact(None) == "The runtime answers with errors"
    # The end of plegscope is no failure of the runtime.
    stopped = msgspec.structs.replace(failed, code="stopped")
    assert nowfacts.verdict(state(last_global=stopped, health=before)).word == "Healthy."


def test_the_page_says_the_same_of_relists_that_fail() -> None:
    script = (static_dir() / "js" / "condition.js").read_text()
    said = re.search(r"const FAILS = \{(.*?)\};", script)
    assert said is not None
    pairs = re.findall(r'(\w+): "(.*?)"', said[1])
    assert dict(pairs) == nowfacts.FAILS
    assert {*dict(pairs), "stopped"} == set(get_args(FailCode))


def test_this_nodes_usual_is_a_median_and_says_of_how_many() -> None:
    def relists(*ms: int) -> list[Record]:
        return [changed(relist_finished(i), duration_ns=each * 1_000_000, started=i * SECOND)
                for i, each in enumerate(ms, 1)]  # fmt: skip

    assert nowfacts.usual(relists(1, 2, 3, 4), 5) is None
    failed = changed(relist_finished(9), duration_ns=60 * SECOND, ok=False)
    one_pod = changed(relist_finished(9, uid="u1"), duration_ns=60 * SECOND)
    records = [failed, one_pod, *relists(4, 2, 3, 9, 3)]
    assert nowfacts.usual(records, 6_000_000) == (3_000_000, 5, SECOND, 2.0)
    assert nowfacts.usual(records, None) == (3_000_000, 5, SECOND, None)
    last = RelistState(7, "global", "global", 398 * SECOND, None, 410_000_000)
    slow = nowfacts.verdict(state(last_global=last), records)
    assert (slow.word, slow.icon) == ("Healthy, but slow.", "warning")
    assert nowfacts.verdict(state(last_global=last), relists(300, 300, 300, 300, 300)).icon == "ok"
