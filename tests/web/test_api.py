"""The API: every answer is what its struct says, every no is a sentence."""

from __future__ import annotations

import httpx
import msgspec
import pytest

from app.engine.records import Lifecycle, Note, Record
from app.engine.state import HealthState
from app.hub.wire import SessionState
from app.journal.query import KINDS
from app.web.api import MAX_RECORDS, HealthReport, PodsReport, RecordsReport
from tests.build import HOSTILE, SESSION, chain, pod_gone, pod_seen
from tests.web.site import Site, standing


@pytest.fixture
def site() -> Site:
    served = standing()
    served.journal.append(pod_seen("u1", 1, name="web-1"))
    served.journal.append(pod_seen("u2", 2, name=HOSTILE, namespace=HOSTILE))
    for record in (*chain(1, 10, "u1"), *chain(2, 20, "u2")):
        served.journal.append(record)
    served.journal.append(pod_gone("u2", 30))
    served.happen()
    return served


async def ask(site: Site, target: str) -> httpx.Response:
    async with site.client() as client:
        answer = await client.get(target)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    return answer


async def records(site: Site, query: str = "") -> RecordsReport:
    answer = await ask(site, f"/api/v1/records{query}")
    assert answer.status_code == 200, answer.text
    return msgspec.json.decode(answer.content, type=RecordsReport, strict=True)


async def refusal(site: Site, query: str) -> str:
    answer = await ask(site, f"/api/v1/records{query}")
    assert answer.status_code == 422
    sentence = answer.json()["error"]
    assert sentence.endswith("describes the parameters.")
    assert "Traceback" not in sentence
    return str(sentence)


# ------------------------------------------------------------------------------------ operation


async def test_healthz_is_open_and_tells_no_names(site: Site) -> None:
    async with site.client(headers={}) as client:
        answer = await client.get("/healthz")
    assert answer.status_code == 200
    report = msgspec.json.decode(answer.content, type=HealthReport, strict=True)
    assert (report.status, report.pleg_healthy, report.stream) == ("ok", True, "connected")
    assert (report.version, report.last_seq) == ("1.2.3", site.journal.last_seq)
    for name in ("web-1", "u1", "unix:", "A node"):
        assert name not in answer.text


async def test_an_unhealthy_pleg_does_not_make_plegscope_look_dead(site: Site) -> None:
    site.engine["health"] = HealthState(False, "pleg was ...", 1, 180, None)
    answer = await ask(site, "/healthz")
    assert answer.status_code == 200
    assert answer.json()["pleg_healthy"] is False
    assert answer.json()["pleg_message"] == "pleg was ..."


async def test_metrics_are_open_and_tell_no_names(site: Site) -> None:
    async with site.client(headers={}) as client:
        answer = await client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert "kubelet_pleg_pod_relist_duration_seconds_count 2" in answer.text
    for name in ("web-1", "u1", "unix:", "A node"):
        assert name not in answer.text


# ----------------------------------------------------------------------------------------- node


async def test_state(site: Site) -> None:
    answer = await ask(site, "/api/v1/state")
    assert msgspec.json.decode(answer.content, type=SessionState, strict=True) == site.state()


async def test_pods_gone_ones_and_hostile_names_included(site: Site) -> None:
    answer = await ask(site, "/api/v1/pods")
    report = msgspec.json.decode(answer.content, type=PodsReport, strict=True)
    assert report.session == SESSION
    assert report.t == site.journal.last_seq
    assert [pod.uid for pod in report.pods] == ["u1", "u2"]
    assert report.pods[1].name == HOSTILE
    assert report.pods[1].gone_t == 30


async def test_all_records(site: Site) -> None:
    page = await records(site)
    assert [record.seq for record in page.records] == list(range(1, 15))
    assert (page.next, page.complete, page.missed) == (14, True, 0)
    assert (page.first_seq, page.last_seq, page.session) == (1, 14, SESSION)
    assert page.records == site.journal.since(0)


async def test_following_page_by_page(site: Site) -> None:
    found: list[Record] = []
    since, complete = 0, False
    while not complete:
        page = await records(site, f"?limit=4&since={since}")
        assert len(page.records) <= 4
        found += page.records
        since, complete = page.next, page.complete
    assert tuple(found) == site.journal.since(0)
    site.happen()
    later = await records(site, f"?since={since}")
    assert [type(record) for record in later.records] == [Note]


@pytest.mark.parametrize("pod", ["u1", "web-1", "shop/web-1"])
async def test_records_of_one_pod_by_uid_or_name(site: Site, pod: str) -> None:
    page = await records(site, f"?pod={pod}")
    assert {getattr(record, "uid", None) for record in page.records} == {"u1"}
    assert len(page.records) == 6


async def test_records_of_a_pod_with_a_hostile_name(site: Site) -> None:
    async with site.client() as client:
        answer = await client.get("/api/v1/records", params={"pod": HOSTILE})
    page = msgspec.json.decode(answer.content, type=RecordsReport)
    assert {getattr(record, "uid", None) for record in page.records} == {"u2"}


async def test_a_pod_that_nobody_knows_has_no_records(site: Site) -> None:
    page = await records(site, "?pod=nobody")
    assert (page.records, page.complete) == ((), True)


async def test_a_pod_that_only_the_journal_remembers_is_found_by_its_uid(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site.pods, "find", lambda _text: frozenset[str]())
    assert len((await records(site, "?pod=u2")).records) == 7


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("?kind=lifecycle", 2),
        ("?kind=lifecycle&kind=pod_seen", 4),
        ("?kind=lifecycle,pod_seen", 4),
        ("?kind=lifecycle,%20pod_seen", 4),
        ("?kind=lifecycle&pod=u1", 1),
        ("?kind=health", 0),
    ],
)
async def test_records_of_some_kinds(site: Site, query: str, count: int) -> None:
    assert len((await records(site, query)).records) == count


@pytest.mark.parametrize("kind", sorted(KINDS))
async def test_every_kind_can_be_asked_for(site: Site, kind: str) -> None:
    assert all(
        record.__struct_config__.tag == kind
        for record in (await records(site, f"?kind={kind}")).records
    )


async def test_what_is_no_longer_kept_is_told() -> None:
    site = standing(capacity=10)
    site.happen(25)
    page = await records(site, "?since=5")
    assert (page.first_seq, page.missed) == (16, 10)
    assert [record.seq for record in page.records] == list(range(16, 26))


async def test_a_number_of_another_session_leads_back_to_the_present(site: Site) -> None:
    page = await records(site, "?since=100000")
    assert (page.records, page.next, page.last_seq) == ((), 14, 14)


async def test_lifecycle_events_carry_their_chain(site: Site) -> None:
    page = await records(site, "?kind=lifecycle&pod=u1")
    event = page.records[0]
    assert isinstance(event, Lifecycle)
    assert (event.type, event.relist, event.source) == ("ContainerDied", 2, "evented_pleg")


# ------------------------------------------------------------------------------------------- no


async def test_an_unknown_kind_is_answered_with_those_there_are(site: Site) -> None:
    sentence = await refusal(site, "?kind=nonsense")
    assert "There is no kind of record 'nonsense'" in sentence
    for kind in KINDS:
        assert kind in sentence


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?since=-1", "since"),
        ("?since=x", "since"),
        ("?since=1e9", "since"),
        (f"?since={2**63}", "since"),
        ("?limit=0", "limit"),
        (f"?limit={MAX_RECORDS + 1}", "limit"),
        ("?limit=", "limit"),
        ("?kind=", "kind"),
        (f"?pod={'x' * 2000}", "pod"),
        ("?nonsense=1", "nonsense"),
        ("?" + "&".join(["kind=note"] * 101), "kind"),
    ],
)
async def test_each_parameter_is_checked_and_named(site: Site, query: str, field: str) -> None:
    assert (await refusal(site, query)).startswith(f"{field}: ")


async def test_several_mistakes_are_told_together(site: Site) -> None:
    sentence = await refusal(site, "?limit=0&since=-1")
    assert "limit: " in sentence
    assert "since: " in sentence


async def test_the_largest_page(site: Site) -> None:
    site.happen(MAX_RECORDS + 50)
    page = await records(site, f"?limit={MAX_RECORDS}")
    assert len(page.records) == MAX_RECORDS
    assert not page.complete


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/api", "/api/v2/pods", "/api/v1/pods/"])
async def test_what_is_not_there(site: Site, path: str) -> None:
    answer = await ask(site, path)
    assert answer.status_code == 404
    assert "/api/v1/openapi.json" in answer.json()["error"]


@pytest.mark.parametrize("path", ["/api/v1/state", "/api/v1/pods", "/api/v1/records"])
async def test_names_need_the_token(site: Site, path: str) -> None:
    async with site.client(headers={}) as client:
        answer = await client.get(path)
    assert answer.status_code == 401
    assert "error" in answer.json()
