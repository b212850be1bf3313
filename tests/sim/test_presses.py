"""The palette: complete, in words, and each button does what it says on a node."""

from collections.abc import Callable
from typing import get_args

import pytest

from app.engine.records import (
    ContainerEventSeen,
    EventIgnored,
    Lifecycle,
    PodCached,
    RelistFinished,
    RequestMade,
    StreamChanged,
    SyncBegan,
    SyncFinished,
)
from app.engine.settings import EngineSettings
from app.sim.button import GROUPS, Button, Group
from app.sim.channel import WINDOW
from app.sim.faults import AnyFault
from app.sim.flavours import CONTAINERD_2
from app.sim.hand import Hand
from app.sim.objects import RuntimeEvent
from app.sim.presses import BY_NAME, LONGEST, NAME, PALETTE
from app.sim.units import seconds
from tests.sim.orders import order, runs_on
from tests.sim.plan import Plan
from tests.sim.virtual import VirtualNode

WEB, DB = "shop/web", "shop/db"
UIDS = ("uid-web", "uid-db")


class Node(VirtualNode):
    """Two pods that run on and on, and a hand."""

    def __init__(self, seed: int = 1) -> None:
        pods = (order("web", runs_on("app"), runs_on("proxy")), order("db"))
        super().__init__(seed, workloads=(Plan(pods),), engine=EngineSettings(event_channel=1000))
        self.told: list[str] = []
        self.hand = Hand(
            self.agenda,
            self.plan,
            self.performance.act,
            lambda: self.workers.pods,
            seed=self.seed,
            tell=lambda _level, text: self.told.append(text),
        )
        self.run(3)
        self.records.clear()
        self.events.clear()

    def press(self, name: str, target: str = "", run: float = 0) -> None:
        """Press, and let that much time pass."""
        self.hand.press(name, target)
        self.run(run)

    def kill(self, target: str = WEB) -> None:
        """Somebody kills a container, and two seconds pass."""
        self.press("kill-container", target, 2)

    def found(self, uid: str = "uid-web") -> list[Lifecycle]:
        """The deaths that were found."""
        return [one for one in self.of(Lifecycle, uid) if one.type == "ContainerDied"]

    def stops(self) -> list[ContainerEventSeen]:
        """The stop events that arrived."""
        return [one for one in self.of(ContainerEventSeen) if one.type == "stopped"]

    def streams(self) -> list[str]:
        """States of the stream, in order."""
        return [one.state for one in self.of(StreamChanged)]

    def ends(self) -> list[str]:
        """How the streams ended."""
        return [one.code for one in self.of(StreamChanged) if one.code is not None]

    def relists(self) -> list[RelistFinished]:
        """The global relists that came back."""
        return [one for one in self.of(RelistFinished) if one.scope == "global"]


def refused(node: Node) -> bool:
    node.press("refuse-stream", run=5)
    return node.ends() == ["unimplemented"] and node.streams()[-1] == "waiting"


def ended(node: Node) -> bool:
    node.press("end-stream", run=5)
    return len(node.ends()) > 1 and set(node.ends()) <= {"eof", "immediate_eof"}


def broken(node: Node) -> bool:
    node.press("break-stream", run=5)
    return len(node.ends()) > 1 and set(node.ends()) == {"error"}


def silent(node: Node) -> bool:
    node.press("silence-stream")
    node.kill()
    node.run(30)
    return not node.streams() and not node.stops() and node.found()[0].source == "global"


def held_back(node: Node) -> bool:
    node.press("hold-stream")
    node.kill()
    before = node.stops()
    node.run(20)
    return not before and len(node.stops()) == 1 and node.found()[0].source == "global"


def delayed(node: Node) -> bool:
    node.press("delay-stream")
    node.kill()
    node.run(5)
    (stop,) = node.stops()
    return 500_000_000 <= (stop.latency_ns or 0) <= 2_010_000_000


def shared(node: Node) -> bool:
    node.press("add-subscriber")
    node.kill()
    return len(node.stops()) == 1 and node.plan.tallies()[-1].hits >= 3


def unread(node: Node) -> bool:
    """On containerd 2: what it takes is taken, and then nobody gets anything until it leaves."""
    node.press("stop-reading")
    box = node.world.pod_sandboxes("uid-db")[0]
    for _ in range(WINDOW + CONTAINERD_2.slots):
        node.runtime.stream.publish(RuntimeEvent("created", box.id, node.clock.wall(), box))
    node.kill(WEB)
    before, found = node.stops(), node.found()
    node.run(70)
    return not before and found[0].source == "global" and len(node.stops()) == 1


def lost(node: Node) -> bool:
    node.press("lose-events", WEB)
    node.kill(WEB)
    node.kill(DB)
    return {one.uid for one in node.of(ContainerEventSeen)} == {"uid-db"}


def stops_lost(node: Node) -> bool:
    node.press("lose-stops")
    node.kill()
    return not node.stops() and bool(node.of(ContainerEventSeen))


def doubled(node: Node) -> bool:
    node.press("double-events")
    node.kill()
    return len(node.stops()) == 2


def reordered(node: Node) -> bool:
    node.press("reorder-events")
    for _ in range(4):
        node.kill(WEB)
        node.kill(DB)
    node.run(5)
    made = [one.created_at for one in node.of(ContainerEventSeen)]
    return len(made) > 8 and made != sorted(made)


def without(name: str, reason: str) -> Callable[[Node], bool]:
    def check(node: Node) -> bool:
        node.press(name)
        node.kill()
        reasons = {one.reason for one in node.of(EventIgnored)}
        return reasons == {reason} and node.found()[0].source == "global"

    return check


def misdated(node: Node) -> bool:
    node.press("misdate-events")
    node.kill()
    (stop,) = node.stops()
    return stop.wall - (stop.created_at or 0) > seconds(3590)


def undated(node: Node) -> bool:
    node.press("undate-events")
    node.kill()
    (stop,) = node.stops()
    return stop.latency_ns is None


def slow(node: Node) -> bool:
    node.press("slow-lists", run=10)
    return max(one.duration_ns for one in node.relists()) >= 800_000_000


def failing(node: Node) -> bool:
    node.press("fail-lists", run=10)
    return not any(one.ok for one in node.relists()[2:])


def hanging(node: Node) -> bool:
    node.press("hang-lists", run=25)
    return max(one.duration_ns for one in node.relists()) > seconds(15)


def uninspected(node: Node) -> bool:
    node.press("fail-inspection", WEB)
    node.kill(WEB)
    return bool(node.of(PodCached, "uid-web")[-1].error) and not node.found()


def slowly_inspected(node: Node) -> bool:
    node.press("slow-inspection", WEB)
    node.kill(WEB)
    node.run(5)
    return max(one.duration_ns for one in node.of(RelistFinished)) >= seconds(1)


def restarted(node: Node) -> bool:
    node.press("restart-runtime", run=3)
    down = not any(one.ok for one in node.relists()[1:])
    node.run(10)
    return down and "unavailable" in node.ends() and node.relists()[-1].ok


def frozen(node: Node) -> bool:
    node.press("freeze-runtime", run=15)
    quiet = not node.streams() and len(node.relists()) <= 1
    node.run(10)
    return quiet and node.relists()[-1].ok


def killed(node: Node) -> bool:
    node.kill()
    (death,) = node.found()
    return (death.exit_code, death.source, death.container_name) == (137, "evented_pleg", "app")


def out_of_memory(node: Node) -> bool:
    node.press("oom-kill", WEB, 2)
    return node.found()[0].reason == "OOMKilled"


def sandbox_killed(node: Node) -> bool:
    node.press("kill-sandbox", WEB, 0.2)
    told = [(one.kind, one.container_id) for one in node.events]
    before = node.world.pod_sandboxes("uid-web")
    alone = told == [("stopped", before[0].id)]
    node.run(40)
    after = [one.state for one in node.world.pod_sandboxes("uid-web")]
    return alone and [one.state for one in before] == ["notready"] and after[-1] == "ready"


def unhealthy(node: Node) -> bool:
    node.press("fail-probe", WEB, 5)
    names = {one.container_name for one in node.found()}
    begun = [one for one in node.of(Lifecycle, "uid-web") if one.type == "ContainerStarted"]
    return names == {"app", "proxy"} and len(begun) == 2


def resized(node: Node) -> bool:
    node.press("resize-in-place", WEB, 3)
    (pod,) = [one for one in node.workers.pods if one.name == "web"]
    done = [one.uid for one in node.milestones if one.what == "resized"]
    told = [one.source for one in node.of(Lifecycle) if one.type == "PodSync"]
    sizes = [one.resources.cpu_milli for one in pod.containers]
    return (sizes, done, told) == ([200, 100], ["uid-web"], ["post_allocation"])


def deleted(node: Node) -> bool:
    node.press("delete-pod", WEB, 40)
    (again,) = [pod for pod in node.workers.pods if pod.name == "web"]
    running = [one.state for one in node.world.pod_containers(again.uid)]
    return not node.world.pod_sandboxes("uid-web") and running == ["running", "running"]


def short(node: Node) -> bool:
    node.press("short-lived", run=15)
    blinks = {one.uid for one in node.of(Lifecycle)} - {"uid-web", "uid-db"}
    node.run(60)
    return len(blinks) > 5 and len(node.workers.pods) == 2


def stormy(node: Node) -> bool:
    node.press("storm", run=5)
    return len(node.found("uid-web")) == 2 and len(node.found("uid-db")) == 1


def queue_filled(node: Node) -> bool:
    node.press("fill-queue", WEB)
    node.kill()
    return any(one.outcome == "dropped" for one in node.of(RequestMade))


def channel_filled(node: Node) -> bool:
    node.press("fill-channel")
    node.press("storm", run=5)
    return any(one.delivery == "discarded" for one in node.of(Lifecycle))


def loop_stalled(node: Node) -> bool:
    node.press("stall-sync-loop")
    node.kill()
    node.run(10)
    found, acted = node.found(), node.of(SyncBegan)
    node.run(20)
    return bool(found) and not acted and bool(node.of(SyncBegan))


def sync_slowed(node: Node) -> bool:
    node.press("slow-sync", WEB)
    node.kill(WEB)
    node.kill(DB)
    node.run(20)
    longest = {uid: max(one.duration_ns for one in node.of(SyncFinished, uid)) for uid in UIDS}
    return longest["uid-web"] > seconds(5) > longest["uid-db"]


EFFECTS: dict[str, Callable[[Node], bool]] = {
    "refuse-stream": refused,
    "end-stream": ended,
    "break-stream": broken,
    "silence-stream": silent,
    "hold-stream": held_back,
    "delay-stream": delayed,
    "add-subscriber": shared,
    "stop-reading": unread,
    "lose-events": lost,
    "lose-stops": stops_lost,
    "double-events": doubled,
    "reorder-events": reordered,
    "strip-uid": without("strip-uid", "missing_uid"),
    "strip-metadata": without("strip-metadata", "missing_metadata"),
    "strip-sandbox": without("strip-sandbox", "missing_sandbox_status"),
    "misdate-events": misdated,
    "undate-events": undated,
    "slow-lists": slow,
    "fail-lists": failing,
    "hang-lists": hanging,
    "fail-inspection": uninspected,
    "slow-inspection": slowly_inspected,
    "restart-runtime": restarted,
    "freeze-runtime": frozen,
    "kill-container": killed,
    "oom-kill": out_of_memory,
    "kill-sandbox": sandbox_killed,
    "fail-probe": unhealthy,
    "resize-in-place": resized,
    "delete-pod": deleted,
    "short-lived": short,
    "storm": stormy,
    "fill-queue": queue_filled,
    "fill-channel": channel_filled,
    "stall-sync-loop": loop_stalled,
    "slow-sync": sync_slowed,
}


@pytest.fixture
def node() -> Node:
    return Node()


@pytest.mark.parametrize("button", PALETTE, ids=lambda one: one.name)
def test_each_button_does_what_it_says(button: Button, node: Node) -> None:
    assert EFFECTS[button.name](node), node.records[:40]


@pytest.mark.parametrize("button", PALETTE, ids=lambda one: one.name)
def test_everything_returns_to_normal_by_itself(button: Button, node: Node) -> None:
    node.hand.press(button.name, WEB if button.target == "pod" else "")
    node.run(180)
    assert node.plan.quiet
    node.records.clear()
    node.kill(DB)
    (death,) = node.found("uid-db")
    assert death.source == "evented_pleg"
    assert node.relists()[-1].ok


def test_each_kind_of_fault_has_a_button(node: Node) -> None:
    for button in PALETTE:
        node.hand.press(button.name, WEB if button.target == "pod" else "")
        node.run(0.01)
    kinds = {one.kind for one in node.plan.tallies()}
    assert kinds == {one.__struct_config__.tag for one in get_args(AnyFault)}


def test_words_and_order() -> None:
    assert len(BY_NAME) == len(PALETTE)
    assert list(GROUPS) == list(get_args(Group))
    order_of = list(GROUPS)
    places = [order_of.index(button.group) for button in PALETTE]
    assert places == sorted(places)
    for button in PALETTE:
        assert NAME.fullmatch(button.name)
        assert button.text[0].isupper()
        assert button.does.endswith(".")
        assert button.imitates.endswith(".")
        assert len(button.text) <= 28
        assert len(button.does) <= 110
        assert button.lasts is None or 0 <= button.lasts <= LONGEST
    assert len({button.text for button in PALETTE}) == len(PALETTE)
