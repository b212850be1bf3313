"""The buttons that let something happen on the node, once: there is nothing to lift."""

from collections.abc import Callable

import msgspec

from app.sim.button import Button, Made, Scene
from app.sim.pods import KILLED, OOM_KILLED, Ending
from app.sim.script import (
    Action,
    DeletePod,
    EndContainer,
    EndSandbox,
    FailProbe,
    ReplacePod,
    ResizeInPlace,
    Step,
)
from app.sim.workloads import new_uid, suffix

MOST_CPU_MILLI = 1_000_000
"""As much as a scenario file may ask for: a thousand CPUs."""


def _action(
    name: str,
    text: str,
    does: str,
    imitates: str,
    make: Callable[[Scene], Made],
) -> Button:
    """A button for something that happens to one pod, once."""
    return Button(
        name=name,
        text=text,
        group="pods",
        does=does,
        imitates=imitates,
        lasts=None,
        target="pod",
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


def _resize(scene: Scene) -> Made:
    """Twice the CPU for the first container, and twice as much again when pressed again."""
    first = scene.pod.containers[0]
    cpu_milli = min(2 * first.resources.cpu_milli, MOST_CPU_MILLI)
    more = msgspec.structs.replace(first.resources, cpu_milli=cpu_milli)
    return _at_once(ResizeInPlace(scene.pod.uid, first.name, more))


def _delete(scene: Scene) -> Made:
    """The pod goes, and unless it is a job's, its controller puts another in its place."""
    pod, rng = scene.pod, scene.rng
    if "batch.kubernetes.io/job-name" in pod.labels:
        return _at_once(DeletePod(pod.uid))
    base, _, last = pod.name.rpartition("-")
    # A StatefulSet's pods have numbers and keep them; others get a new name.
    name = pod.name if not base or last.isdigit() else f"{base}-{suffix(rng)}"
    other = msgspec.structs.replace(pod, uid=new_uid(rng), name=name)
    return _at_once(ReplacePod(pod.uid, other))


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
            "kill-sandbox",
            "Kill the pause process",
            "This pod's sandbox turns NOTREADY; its containers run on until the kubelet acts.",
            "kill -9 of a pause process: one stop event, of the sandbox, and a pod to make anew.",
            lambda scene: _at_once(EndSandbox(scene.pod.uid)),
        ),
        _action(
            "fail-probe",
            "Fail the liveness probe",
            "The kubelet kills this pod's containers and starts them anew.",
            "A process that hangs: it runs, and answers its probe no longer.",
            _fail_probe,
        ),
        _action(
            "resize-in-place",
            "Resize in place",
            "The first container of this pod gets twice its CPU, and is not restarted.",
            "kubectl patch --subresource resize, or a vertical autoscaler. No event tells of it.",
            _resize,
        ),
        _action(
            "delete-pod",
            "Delete the pod",
            "The pod is terminated with its grace period, and removed.",
            "kubectl delete pod, or an eviction: its controller puts another pod in its place.",
            _delete,
        ),
    )
