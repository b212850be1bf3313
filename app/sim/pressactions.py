"""The buttons that let something happen on the node, once: there is nothing to lift."""

from collections.abc import Callable

from app.sim.button import Button, Made, Scene, Target
from app.sim.pods import COMPLETED, KILLED, OOM_KILLED, ContainerSpec, Ending, Lifetime, PodSpec
from app.sim.script import Action, AddPod, DeletePod, EndContainer, FailProbe, Step
from app.sim.units import millis, seconds
from app.sim.workloads import new_uid, suffix

STORM_WITHIN_NS = 200_000_000
"""Over so long the ends of a storm are spread: a node-wide reason hits all within a moment."""


def _action(
    name: str,
    text: str,
    does: str,
    imitates: str,
    make: Callable[[Scene], Made],
    *,
    target: Target = "pod",
) -> Button:
    """A button for something that happens on the node, once."""
    return Button(
        name=name,
        text=text,
        group="pods",
        does=does,
        imitates=imitates,
        lasts=None,
        target=target,
        make=make,
    )


def _end_one(ending: Ending) -> Callable[[Scene], Made]:
    """The process of the pod's first container ends so."""

    def make(scene: Scene) -> Made:
        return _at_once(EndContainer(scene.pod.uid, scene.pod.containers[0].name, ending))

    return make


def _fail_probe(scene: Scene) -> Made:
    names = tuple(container.name for container in scene.pod.containers)
    return _at_once(FailProbe(scene.pod.uid, names))


def _delete(scene: Scene) -> Made:
    return _at_once(DeletePod(scene.pod.uid))


def _short_lived(scene: Scene) -> Made:
    """Three pods whose containers live for 60 to 300 ms: most begin and end between two relists."""
    rng, steps = scene.rng, []
    for number in range(3):
        container = ContainerSpec(
            name="blink",
            image="registry.example/batch/blink:1",
            lifetime=Lifetime((millis(60), millis(300)), (COMPLETED,)),
        )
        pod = PodSpec(
            uid=new_uid(rng),
            name=f"blink-{suffix(rng)}",
            namespace="pressed",
            containers=(container,),
            restart_policy="Never",
        )
        born = number * millis(150)
        steps.append(Step(born, AddPod(pod)))
        # They are gone again after a while, as finished jobs are.
        steps.append(Step(born + seconds(20), DeletePod(pod.uid)))
    return Made(steps=tuple(sorted(steps, key=lambda step: step.t)))


def _storm(scene: Scene) -> Made:
    rng = scene.rng
    ends = [
        Step(rng.randrange(STORM_WITHIN_NS), EndContainer(pod.uid, container.name, KILLED))
        for pod in scene.pods
        for container in pod.containers
    ]
    return Made(steps=tuple(sorted(ends, key=lambda step: step.t)))


def _at_once(action: Action) -> Made:
    return Made(steps=(Step(0, action),))


def pod_buttons() -> tuple[Button, ...]:
    """What befalls pods."""
    return (
        _action(
            "kill-container",
            "Kill a container",
            "SIGKILL to the first container of this pod: exit code 137.",
            "kill -9 on the node, or a process that crashes: nobody asked for it.",
            _end_one(KILLED),
        ),
        _action(
            "oom-kill",
            "Out of memory",
            "The first container of this pod is killed: OOMKilled, exit code 137.",
            "The kernel's OOM killer, when a container goes beyond its memory limit.",
            _end_one(OOM_KILLED),
        ),
        _action(
            "fail-probe",
            "Fail the liveness probe",
            "The kubelet kills this pod's containers and starts them anew.",
            "A process that hangs: it runs, and answers its probe no longer.",
            _fail_probe,
        ),
        _action(
            "delete-pod",
            "Delete the pod",
            "The pod is terminated with its grace period, and removed.",
            "kubectl delete pod. Nothing puts this one back.",
            _delete,
        ),
        _action(
            "short-lived",
            "Short-lived containers",
            "Three pods whose containers live for 60 to 300 ms.",
            "A job that ends between two relists: its start and end are seen as one change.",
            _short_lived,
            target="none",
        ),
        _action(
            "storm",
            "Termination storm",
            "The processes of all containers end within 0.2 s.",
            "A node-wide reason: a cgroup emptied, a shared volume lost, a bad configuration.",
            _storm,
            target="none",
        ),
    )
