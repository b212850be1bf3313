"""(b) How soon a death is found: by the stream's event, and by polling, of the same kills."""

from __future__ import annotations

import random
import time
from contextlib import ExitStack

from tests.bench.node import Node, say
from tests.bench.report import Section, median, percentile
from tests.lab.kubelet import Pod
from tests.lab.pods import Pods
from tests.watching import Line, Watching, watching

KILLS = 120
PAUSE_S = (0.15, 0.45)
"""Between two kills, by chance, so that they fall anywhere into the polling period."""

P50_MS, P99_MS = 5.0, 25.0
SOONER = 50.0


def measure(node: Node) -> Section:
    """Kill containers one at a time; compare what two ``watch`` made of it."""
    section = Section("(b) from an event to ContainerDied")
    with ExitStack() as stack:
        pods = stack.enter_context(node.pods())
        say(f"(b) making {KILLS} pods")
        made = pods.run_many(KILLS, "bench-kill", workers=4)
        told = stack.enter_context(watching(node.endpoint))
        polling = stack.enter_context(watching(node.endpoint, "--no-stream"))
        told.wait_kind("stream", state="connected")
        say(f"(b) killing {KILLS} containers, one after another")
        kill_all(pods, made, told)
        found = deaths(told, made), deaths(polling, made)
        calls = [told.chain(line)["relist_finished"]["slowest_ns"] for line in found[0].values()]
        created = {
            line["container_id"]: line["created_at"]
            for line in told.snapshot()
            if line["kind"] == "stream_event" and line["type"] == "stopped"
        }
    compare(section, *found, created)
    slowest = [ns / 1e6 for ns in calls]
    section.add("slowest runtime call of those relists: p50", f"{median(slowest):.2f} ms")
    section.add("slowest runtime call of those relists: p99", f"{percentile(slowest, 99):.2f} ms")
    return section


def kill_all(pods: Pods, made: list[Pod], told: Watching) -> None:
    """One kill at a time, on a node that is otherwise idle."""
    chance = random.Random(1)
    for pod in made:
        time.sleep(chance.uniform(*PAUSE_S))
        pods.kill(pod)
        told.wait_died(pod.container_ids[0])


def deaths(watch: Watching, made: list[Pod]) -> dict[str, Line]:
    """The record of each container's death, by container id; waits for those still to come."""
    return {pod.container_ids[0]: watch.wait_died(pod.container_ids[0]) for pod in made}


def compare(
    section: Section, told: dict[str, Line], polled: dict[str, Line], created: dict[str, int]
) -> None:
    """Turn the records into rows."""
    after = [line["after_ns"] / 1e6 for line in told.values() if line["after_ns"] is not None]
    section.note = (
        f"{len(told)} containers killed one at a time on an idle node of as many pods; two watch "
        "processes side by side, one with --no-stream. "
        f"{len(told) - len(after)} were found by a poll before their event came."
    )
    section.at_most("event received to ContainerDied recorded: p50", median(after), P50_MS, "ms")
    p99 = percentile(after, 99)
    section.at_most("event received to ContainerDied recorded: p99", p99, P99_MS, "ms")
    section.add("event received to ContainerDied recorded: max", f"{max(after):.2f} ms")
    detection = [
        [(line["wall"] - created[key]) / 1e6 for key, line in found.items() if key in created]
        for found in (told, polled)
    ]
    section.add(
        "runtime's created_at to detection: median, stream", f"{median(detection[0]):.1f} ms"
    )
    section.add(
        "runtime's created_at to detection: median, polling", f"{median(detection[1]):.1f} ms"
    )
    sooner = median(detection[1]) / median(detection[0])
    section.at_least("detection sooner with the stream", sooner, SOONER, "x")
    ended = [
        [line["since_finished_ns"] / 1e6 for line in found.values()] for found in (told, polled)
    ]
    section.add("exit to detection: median, stream", f"{median(ended[0]):.1f} ms")
    section.add("exit to detection: median, polling", f"{median(ended[1]):.1f} ms")
