"""The request queue: bounded, in order, not merged outside a suspension, and held inside one."""

from app.engine.model import RelistSource
from app.engine.outbox import Outbox
from app.engine.records import Record, RequestMade, RequestMoved
from app.engine.requests import FINAL, RequestQueue
from tests.engine.play import of, outcomes


class Case:
    def __init__(self, capacity: int = 200) -> None:
        self.out = Outbox()
        self.queue = RequestQueue(self.out, capacity)

    def at(self, t: int) -> None:
        self.out.begin(t, 1000 + t)

    def ask(self, uid: str, source: RelistSource = "post_sync") -> bool:
        return self.queue.make(self.queue.reserve(), uid, source, None)

    def told(self) -> tuple[Record, ...]:
        return self.out.take().records

    def outcomes(self) -> list[str]:
        return outcomes(self.told())

    def popped(self) -> list[int]:
        numbers = []
        while (request := self.queue.pop()) is not None:
            numbers.append(request.number)
        return numbers


def test_a_request_stands_in_the_queue_and_is_told() -> None:
    case = Case()
    case.at(7)
    assert case.queue.make(case.queue.reserve(), "p", "evented_pleg", 3)
    assert case.told() == (
        RequestMade(
            t=7, wall=1007, request=1, uid="p", source="evented_pleg", event=3, outcome="queued",
            depth=1,
        ),
    )  # fmt: skip
    request = case.queue.pop()
    assert request is not None
    assert (request.number, request.made_t, request.enqueued_t) == (1, 7, 7)
    assert case.queue.pop() is None


def test_oldest_first() -> None:
    case = Case()
    for uid in ("a", "b", "c"):
        case.ask(uid)
    assert len(case.queue) == 3
    assert case.popped() == [1, 2, 3]


def test_h17_p10_requests_of_one_pod_are_not_merged_outside_a_hold() -> None:
    case = Case()
    for _ in range(3):
        assert case.ask("p")
    assert case.outcomes() == ["1 queued", "2 queued", "3 queued"]
    assert case.popped() == [1, 2, 3]
    assert case.queue.outcomes["coalesced"] == 0


def test_h16_p23_the_201st_is_dropped_and_counted() -> None:
    case = Case()
    for _ in range(200):
        assert case.ask("p")
    case.told()
    assert not case.ask("q")
    (told,) = of(case.told(), RequestMade)
    assert (told.outcome, told.depth) == ("dropped", 200)
    assert case.queue.outcomes["dropped"] == 1
    assert case.queue.outcomes["queued"] == 200
    case.queue.pop()
    assert case.ask("q")


def test_p1_p2_the_first_request_of_a_held_pod_waits_and_the_others_fold_into_it() -> None:
    case = Case()
    case.at(10)
    case.queue.suspend("p")
    for source in ("evented_pleg", "post_sync", "post_allocation"):
        assert not case.ask("p", source)
    assert case.outcomes() == ["1 held", "2 coalesced", "3 coalesced"]
    assert (case.queue.held, case.queue.suspended, len(case.queue)) == (1, 1, 0)
    assert case.popped() == []
    case.at(25)
    assert case.queue.release("p") == (15, 3)
    (moved,) = of(case.told(), RequestMoved)
    assert (moved.request, moved.outcome, moved.depth) == (1, "released", 1)
    request = case.queue.pop()
    assert request is not None
    assert (request.made_t, request.enqueued_t) == (10, 25)
    assert case.queue.held == 0


def test_p3_a_release_by_itself_queues_nothing() -> None:
    case = Case()
    case.queue.suspend("p")
    assert case.queue.release("p") == (0, 0)
    assert len(case.queue) == 0
    assert case.told() == ()


def test_beginning_twice_and_ending_twice() -> None:
    case = Case()
    case.at(1)
    case.queue.suspend("p")
    case.at(5)
    case.queue.suspend("p")
    assert case.queue.is_suspended("p")
    assert case.queue.release("p") == (4, 0)
    assert case.queue.release("p") is None
    assert not case.queue.is_suspended("p")


def test_p2_a_request_that_waits_when_syncpod_begins_waits_on_with_the_others() -> None:
    case = Case()
    for uid in ("p", "q", "p"):
        case.ask(uid)
    case.told()
    case.at(5)
    case.queue.suspend("p")
    assert case.outcomes() == ["1 held", "3 coalesced"]
    assert len(case.queue) == 1
    case.ask("p")
    case.at(9)
    assert case.queue.release("p") == (4, 3)
    assert case.popped() == [2, 1]


def test_a_hold_frees_the_places_of_the_pods_requests() -> None:
    case = Case(capacity=2)
    case.ask("p")
    case.ask("p")
    case.queue.suspend("p")
    assert case.ask("q")
    assert len(case.queue) == 1


def test_p7_a_hold_concerns_one_pod() -> None:
    case = Case()
    case.queue.suspend("p")
    case.ask("p")
    assert case.ask("q")
    assert case.popped() == [2]


def test_p23_a_release_into_a_full_queue_drops_the_request() -> None:
    case = Case(capacity=1)
    case.queue.suspend("p")
    case.ask("p")
    case.ask("q")
    case.told()
    assert case.queue.release("p") == (0, 1)
    assert case.outcomes() == ["1 dropped"]
    assert case.popped() == [2]
    assert case.queue.outcomes["dropped"] == 1


def test_a_withheld_request_is_held_while_the_hold_lasts() -> None:
    case = Case()
    case.ask("p")
    request = case.queue.pop()
    assert request is not None
    case.queue.suspend("p")
    case.told()
    case.queue.put_back(request, 4)
    (moved,) = of(case.told(), RequestMoved)
    assert (moved.request, moved.outcome, moved.relist) == (1, "held", 4)


def test_a_withheld_request_folds_into_one_that_waits_already() -> None:
    case = Case()
    case.ask("p")
    request = case.queue.pop()
    assert request is not None
    case.queue.suspend("p")
    case.ask("p")
    case.told()
    case.queue.put_back(request, 4)
    assert case.outcomes() == ["1 coalesced"]
    assert case.queue.release("p") == (0, 2)
    assert case.popped() == [2]


def test_a_withheld_request_stands_in_the_queue_again_when_the_hold_is_over() -> None:
    case = Case()
    case.at(1)
    case.ask("p")
    request = case.queue.pop()
    assert request is not None
    case.told()
    case.at(9)
    case.queue.put_back(request, 4)
    assert case.outcomes() == ["1 queued"]
    again = case.queue.pop()
    assert again is request
    assert (again.made_t, again.enqueued_t) == (1, 9)


def test_p2_a_withheld_request_folds_into_the_one_its_release_queued() -> None:
    case = Case()
    case.ask("p")
    request = case.queue.pop()
    assert request is not None
    case.queue.suspend("p")
    case.ask("p")
    case.ask("q")
    case.queue.release("p")
    case.told()
    case.queue.put_back(request, 4)
    assert case.outcomes() == ["1 coalesced"]
    assert case.popped() == [3, 2]


def test_each_request_is_counted_as_queued_once() -> None:
    case = Case()
    case.ask("p")
    request = case.queue.pop()
    assert request is not None
    case.queue.put_back(request, 1)
    case.queue.suspend("p")
    case.queue.release("p")
    assert case.popped() == [1]
    assert case.queue.outcomes["queued"] == 1
    case.queue.suspend("q")
    case.ask("q")
    assert case.queue.outcomes["queued"] == 1
    case.queue.release("q")
    assert case.queue.outcomes["queued"] == 2


def test_settling_counts_once_and_tells_unless_executed() -> None:
    case = Case()
    case.ask("p")
    request = case.queue.pop()
    assert request is not None
    case.told()
    case.queue.settle(request, None)
    assert case.told() == ()
    case.queue.settle(request, "skipped", 8)
    (moved,) = of(case.told(), RequestMoved)
    assert (moved.outcome, moved.relist) == ("skipped", 8)
    assert case.queue.outcomes["executed"] == case.queue.outcomes["skipped"] == 1


def test_p19_shutdown_cancels_whatever_waits() -> None:
    case = Case()
    case.queue.suspend("p")
    for uid in ("p", "p", "q", "r"):
        case.ask(uid)
    case.told()
    case.queue.cancel_all()
    assert case.outcomes() == ["3 cancelled", "4 cancelled", "1 cancelled"]
    assert (len(case.queue), case.queue.held) == (0, 0)
    assert case.queue.release("p") == (0, 0)
    assert sum(case.queue.outcomes[name] for name in FINAL) == 4


def test_no_place_at_all() -> None:
    case = Case(capacity=0)
    assert not case.ask("p")
    assert case.outcomes() == ["1 dropped"]
