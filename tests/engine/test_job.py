"""A relist in progress: what its calls cost, and how it is shown and told."""

from app.engine.job import Inspection, Job
from app.engine.listing import Pod
from app.engine.model import CallCost
from app.engine.requests import Request
from app.engine.state import RelistState


def test_calls_are_counted_and_the_slowest_is_remembered() -> None:
    job = Job(1, "global", "global", 5, 105)
    job.account((CallCost("ListPodSandbox", 3), CallCost("ListContainers", 9)))
    job.account((CallCost("PodSandboxStatus", 4),))
    assert (job.calls, job.slowest) == (3, CallCost("ListContainers", 9))


def test_whose_the_slowest_call_was_is_remembered() -> None:
    job = Job(1, "global", "global", 5, 105)
    job.account((CallCost("ListContainers", 9),))
    job.inspection = Inspection("p", Pod("p", "web", "shop", 5), [], False, 5, 105)
    job.account((CallCost("ContainerStatus", 10), CallCost("PodSandboxStatus", 4)))
    assert job.finished(6, 106, "", None).slowest_uid == "p"
    job.inspection = None
    job.account((CallCost("ListContainers", 11),))
    assert job.finished(6, 106, "", None).slowest_uid == ""


def test_a_relist_without_an_answer_ends_with_nothing_but_its_error() -> None:
    request = Request(7, "p", "post_sync", None, 1, 2)
    job = Job(3, "pod", "post_sync", 5, 105, request, "p")
    assert job.state() == RelistState(3, "pod", "post_sync", 5, "p")
    ended = job.finished(12, 112, "It broke.", None)
    assert (ended.t, ended.wall, ended.duration_ns, ended.ok) == (12, 112, 7, False)
    assert (ended.request, ended.error, ended.pods, ended.pause_ns) == (7, "It broke.", 0, None)
    assert job.state(ended) == RelistState(3, "pod", "post_sync", 5, "p", 7, False, 0, 0)


def test_a_global_relist_tells_what_it_listed_and_the_pause_after_it() -> None:
    job = Job(4, "global", "global", 5, 105)
    job.pods, job.containers, job.changed = {}, 6, 2
    job.running_pods, job.by_state, job.withheld = 1, {"running": 6}, {"p"}
    ended = job.finished(6, 106, "", 1_000)
    assert (ended.ok, ended.containers, ended.changed, ended.withheld) == (True, 6, 2, 1)
    assert (ended.running_pods, ended.containers_by_state) == (1, {"running": 6})
    assert (ended.request, ended.pause_ns) == (None, 1_000)
