"""What SyncPod has to do, as a table of cached states (kuberuntime's TestComputePodActions)."""

from typing import Any

import pytest

from app.engine.model import ContainerStatus, PodStatus, RuntimeState, SandboxStatus
from app.sim.pods import ContainerSpec, PodSpec, RestartPolicy
from app.sim.syncplan import SyncPlan, is_terminal, plan_sync


def pod(policy: RestartPolicy = "Always", *names: str) -> PodSpec:
    containers = tuple(ContainerSpec(name=name, image="i") for name in names or ("app",))
    return PodSpec(uid="u", name="p", namespace="n", containers=containers, restart_policy=policy)


def was(
    name: str, state: RuntimeState, code: int = 0, attempt: int = 0, finished: int = 50
) -> ContainerStatus:
    exited = state == "exited"
    return ContainerStatus(
        id=f"{name}-{attempt}",
        name=name,
        attempt=attempt,
        runtime_state=state,
        created_at=attempt,
        finished_at=finished if exited else 0,
        exit_code=code if exited else None,
    )


def status(*containers: ContainerStatus, sandbox: RuntimeState | None = "ready") -> PodStatus:
    sandboxes = () if sandbox is None else (SandboxStatus("s-4", 4, sandbox, 1),)
    return PodStatus(uid="u", containers=containers, sandboxes=sandboxes)


def starts(plan: SyncPlan) -> list[tuple[str, int, int | None]]:
    return [(one.container.name, one.attempt, one.finished_at) for one in plan.start]


def test_a_new_pod_gets_a_sandbox_and_all_its_containers() -> None:
    plan = plan_sync(pod("Always", "app", "side"), status(sandbox=None), ())
    assert plan.sandbox_attempt == 0
    assert not plan.kill_pod
    assert starts(plan) == [("app", 0, None), ("side", 0, None)]


def test_a_pod_that_runs_needs_nothing() -> None:
    assert plan_sync(pod(), status(was("app", "running")), ()) == SyncPlan()


def test_a_sandbox_without_containers_gets_them_and_stays() -> None:
    plan = plan_sync(pod(), status(), ())
    assert plan.sandbox_attempt is None
    assert starts(plan) == [("app", 0, None)]


@pytest.mark.parametrize(
    ("policy", "code", "restarted", "terminal"),
    [
        ("Always", 0, True, False),
        ("Always", 1, True, False),
        ("OnFailure", 0, False, True),
        ("OnFailure", 1, True, False),
        ("Never", 0, False, True),
        ("Never", 1, False, True),
    ],
)
def test_a_container_that_ended_is_restarted_as_the_policy_says(
    policy: Any, code: int, restarted: bool, terminal: bool
) -> None:
    plan = plan_sync(pod(policy), status(was("app", "exited", code, attempt=2)), ())
    assert starts(plan) == ([("app", 3, 50)] if restarted else [])
    assert plan.terminal is terminal


def test_only_the_newest_instance_counts_and_its_end_is_where_the_back_off_begins() -> None:
    newest = was("app", "exited", 1, attempt=5, finished=900)
    oldest = was("app", "exited", 0, attempt=4, finished=100)
    plan = plan_sync(pod("OnFailure"), status(newest, oldest), ())
    assert starts(plan) == [("app", 6, 900)]


def test_a_created_container_that_was_never_started_is_made_anew() -> None:
    assert starts(plan_sync(pod(), status(was("app", "created", attempt=1)), ())) == [
        ("app", 2, None)
    ]


def test_a_container_that_fails_its_probe_is_killed_and_started_in_one_sync() -> None:
    order = pod("Always", "app", "side")
    known = status(was("app", "running", attempt=1), was("side", "running"))
    plan = plan_sync(order, known, {"app-1"})
    assert plan.kill == ("app-1",)
    assert starts(plan) == [("app", 2, None)]


def test_with_an_older_dead_instance_a_killed_container_is_subject_to_back_off() -> None:
    known = status(was("app", "running", attempt=1), was("app", "exited", 1, 0, finished=30))
    assert starts(plan_sync(pod(), known, {"app-1"})) == [("app", 2, 30)]


def test_a_probe_that_failed_in_an_instance_that_is_gone_means_nothing() -> None:
    assert plan_sync(pod(), status(was("app", "running", attempt=1)), {"app-0"}) == SyncPlan()


def test_a_killed_container_that_is_never_restarted_is_only_killed() -> None:
    plan = plan_sync(pod("Never", "app", "side"), status(was("app", "running")), {"app-0"})
    assert plan.kill == ("app-0",)
    assert starts(plan) == [("side", 0, None)]


def test_a_dead_sandbox_means_a_new_one_and_everything_anew() -> None:
    known = status(was("app", "running", attempt=2), sandbox="notready")
    plan = plan_sync(pod(), known, ())
    assert plan.kill_pod
    assert plan.sandbox_attempt == 5
    assert starts(plan) == [("app", 3, None)]


def test_what_has_succeeded_is_not_undone_by_a_new_sandbox() -> None:
    order = pod("OnFailure", "app", "side")
    known = status(was("app", "exited", 0), was("side", "running"), sandbox="notready")
    assert starts(plan_sync(order, known, ())) == [("side", 1, None)]


def test_a_pod_is_done_when_all_of_it_is() -> None:
    order = pod("OnFailure", "app", "side")
    assert not is_terminal(order, status(was("app", "exited", 0), was("side", "running")))
    assert not is_terminal(order, status(was("app", "exited", 0), was("side", "exited", 1)))
    assert not is_terminal(order, status(was("app", "exited", 0)))
    assert is_terminal(order, status(was("app", "exited", 0), was("side", "exited", 0)))


def test_a_done_pod_is_done_even_when_its_sandbox_is_dead() -> None:
    known = status(was("app", "exited", 1), sandbox="notready")
    assert plan_sync(pod("Never"), known, ()) == SyncPlan(terminal=True)


# ------------------------------------------------------------ a probe that fails, another size


def test_a_pod_of_which_nothing_is_to_run_on_is_killed_as_a_whole() -> None:
    sick = plan_sync(pod("Never"), status(was("app", "running")), {"app-0"})
    assert (sick.kill_pod, sick.kill, sick.start) == (True, ("app-0",), ())
    beside = plan_sync(
        pod("Never", "app", "side"),
        status(was("app", "running"), was("side", "running")),
        {"app-0"},
    )
    assert (beside.kill_pod, beside.kill, beside.start) == (False, ("app-0",), ())


def test_what_runs_is_resized_in_place_and_what_does_not_starts_with_its_size() -> None:
    plan = plan_sync(
        pod("Always", "app", "side", "sick"),
        status(was("app", "running"), was("side", "exited"), was("sick", "running")),
        {"sick-0"},
        {"app", "side", "sick"},
    )
    assert plan.resize == (("app", "app-0"),)
    assert plan.kill == ("sick-0",)
    assert [name for name, *_ in starts(plan)] == ["side", "sick"]
