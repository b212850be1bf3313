"""Pod records: what is compared with, who is named, who is marked."""

from app.engine.listing import Pod
from app.engine.outbox import Outbox
from app.engine.podrecords import MOST_NAMED, PodRecords
from app.engine.records import PodGone, PodSeen, Record


def pod(uid: str) -> Pod:
    return Pod(uid, f"pod-{uid}", "demo", 0)


class Case:
    def __init__(self) -> None:
        self.out = Outbox()
        self.records = PodRecords(self.out)

    def at(self, t: int) -> None:
        self.out.begin(t, t)

    def told(self) -> tuple[Record, ...]:
        return self.out.take().records


def test_a_pod_is_named_once() -> None:
    case = Case()
    case.at(5)
    case.records.see("a", "pod-a", "demo")
    case.records.see("a", "other", "other")
    assert case.told() == (PodSeen(t=5, wall=5, uid="a", name="pod-a", namespace="demo"),)


def test_a_listing_names_each_pod_once() -> None:
    case = Case()
    case.at(5)
    for _ in range(2):
        case.records.listed({"a": pod("a"), "b": pod("b")})
    named = [(one.uid, one.name) for one in case.told() if isinstance(one, PodSeen)]
    assert named == [("a", "pod-a"), ("b", "pod-b")]


def test_a_listed_pod_has_a_record_that_counts_only_when_something_was_published() -> None:
    records = Case().records
    records.listed({"a": pod("a")})
    assert records.old == {"a": None}
    assert len(records) == 0
    records.advance("a", pod("a"))
    records.listed({"a": pod("a")})
    assert records.old == {"a": pod("a")}
    assert len(records) == 1
    records.advance("a", None)
    records.advance("a", None)
    assert records.old == {}


def test_a_record_without_contents_can_be_dropped_and_no_other() -> None:
    records = Case().records
    records.listed({"a": pod("a")})
    records.advance("b", pod("b"))
    for uid in ("a", "b", "c"):
        records.drop_empty(uid)
    assert list(records.old) == ["b"]


def test_a_name_goes_when_the_pod_is_neither_listed_nor_recorded() -> None:
    case = Case()
    case.at(1)
    for uid in ("listed", "recorded", "gone"):
        case.records.see(uid, "", "")
    case.records.advance("recorded", pod("recorded"))
    case.at(9)
    case.told()
    case.records.forget_absent({"listed": pod("listed")}, since_t=5)
    assert case.told() == (PodGone(t=9, wall=9, uid="gone"),)
    case.records.see("gone", "", "")
    assert [type(one) for one in case.told()] == [PodSeen]


def test_a_pod_named_after_the_list_began_stays() -> None:
    case = Case()
    case.at(5)
    case.records.see("new", "", "")
    case.told()
    case.records.forget_absent({}, since_t=5)
    assert case.told() == ()
    case.records.forget_absent({}, since_t=6)
    assert [type(one) for one in case.told()] == [PodGone]


def test_p27_a_stream_cannot_name_pods_without_end() -> None:
    case = Case()
    for number in range(MOST_NAMED + 10):
        case.records.see(f"pod-{number}", "", "")
    assert len(case.told()) == MOST_NAMED


def test_d3_a_mark_is_set_once_and_taken_once() -> None:
    records = Case().records
    assert not records.take_mark("a")
    records.mark("a")
    records.mark("a")
    assert records.marks == {"a"}
    assert records.take_mark("a")
    assert not records.take_mark("a")
