"""The hand: what can be pressed when and on whom, what is told of it, and how it is lifted."""

import pytest

from app.engine.records import Lifecycle, Note
from app.sim.faultplan import MOST_AT_WORK, PressError
from app.sim.faults import ListsHang
from app.sim.hand import Hand
from app.sim.presses import LONGEST
from app.sim.units import Ns, seconds
from tests.sim.orders import order
from tests.sim.plan import Plan
from tests.sim.virtual import VirtualNode

WEB = "shop/web"


class Node(VirtualNode):
    """Two pods and a hand, five seconds after the start."""

    def __init__(self, seed: int = 1) -> None:
        super().__init__(seed, workloads=(Plan((order("web"), order("db"))),))
        self.told: list[str] = []
        self.hand = Hand(
            self.agenda,
            self.plan,
            self.performance.act,
            lambda: self.workers.pods,
            seed=self.seed,
            tell=lambda level, text: self.told.append(f"{level}: {text}"),
        )
        self.run(5)

    def deaths(self) -> list[tuple[str, int, int | None]]:
        """Who was found dead, when, and after what."""
        found = [one for one in self.of(Lifecycle) if one.type == "ContainerDied"]
        return [(one.uid, one.t, one.exit_code) for one in found]


@pytest.fixture
def node() -> Node:
    return Node()


def test_a_fault_is_at_work_for_as_long_as_its_button_says(node: Node) -> None:
    pressed = node.hand.press("break-stream")
    assert node.hand.at_work() == (pressed,)
    assert (pressed.name, pressed.text, pressed.target) == ("break-stream", "Break the stream", "")
    assert pressed.until_t == pressed.since_t + seconds(10)
    node.run(9.9)
    assert node.hand.at_work() == (pressed,)
    node.run(0.2)
    assert node.hand.at_work() == ()


def test_a_fault_lasts_as_long_as_it_is_told_to(node: Node) -> None:
    pressed = node.hand.press("lose-events", WEB, seconds(2))
    assert (pressed.until_t, pressed.target) == (pressed.since_t + seconds(2), WEB)
    node.run(2.1)
    assert node.hand.at_work() == ()


def test_the_timeline_is_told_of_faults_by_the_plan_and_of_the_rest_by_the_hand(
    node: Node,
) -> None:
    node.hand.press("freeze-runtime")
    assert node.told == []
    notes = [one.text for one in node.of(Note)]
    assert notes
    assert notes[-1].startswith("Fault begins: Freeze the runtime. It imitates: A runtime under S")
    pressed = node.hand.press("oom-kill", WEB)
    assert (pressed.number, pressed.until_t) == (None, None)
    assert node.told == [
        (
            "info: Pressed: Out of memory (shop/web). It imitates: The kernel's OOM killer, when a "
            "container goes beyond its memory limit."
        )
    ]


def test_each_fault_can_be_lifted_once(node: Node) -> None:
    first, second = node.hand.press("slow-lists"), node.hand.press("silence-stream")
    assert first.number is not None
    assert node.hand.lift(first.number)
    assert node.hand.at_work() == (second,)
    assert not node.hand.lift(first.number)
    assert not node.hand.lift(-1)


def test_healing_ends_everything_the_scenarios_own_faults_too(node: Node) -> None:
    node.plan.begin(ListsHang(at=Ns(0)))
    node.hand.press("delay-stream")
    own, pressed = node.hand.at_work()
    assert (own.name, own.text, own.until_t, own.number) == ("", "Hanging lists", None, 1)
    assert pressed.name == "delay-stream"
    assert node.hand.heal() == 2
    assert node.hand.at_work() == ()
    assert node.plan.quiet
    assert node.hand.heal() == 0


@pytest.mark.parametrize(
    ("name", "target", "lasts", "words"),
    [
        ("", "", None, "nothing called '' to press"),
        ("no-such", "", None, "nothing called 'no-such'"),
        ("<b>" * 90, "", None, "nothing called"),
        ("kill-container", "", None, "is about one pod. Choose a pod."),
        ("kill-container", "shop/gone", None, "no pod 'shop/gone' now"),
        ("lose-events", "*", None, "no pod '*' now"),
        ("lose-events", "shop/*", None, "no pod"),
        ("break-stream", WEB, None, "about no single pod"),
        ("break-stream", "", Ns(0), "up to 10 min"),
        ("break-stream", "", Ns(LONGEST + 1), "up to 10 min"),
    ],
)
def test_what_cannot_be_pressed_is_said_and_changes_nothing(
    node: Node, name: str, target: str, lasts: Ns | None, words: str
) -> None:
    with pytest.raises(PressError) as refused:
        node.hand.press(name, target, lasts)
    assert words in str(refused.value)
    assert str(refused.value).endswith(".")
    assert len(str(refused.value)) < 400
    assert (node.plan.quiet, node.told, node.deaths()) == (True, [], [])


def test_there_is_a_most_of_what_can_be_at_work(node: Node) -> None:
    for _ in range(MOST_AT_WORK):
        node.hand.press("slow-lists")
    with pytest.raises(PressError, match="Lift some"):
        node.hand.press("slow-lists")
    assert len(node.hand.at_work()) == MOST_AT_WORK
    node.hand.heal()
    node.hand.press("slow-lists")


def test_of_two_pods_of_a_name_the_newer_one_is_meant(node: Node) -> None:
    node.workers.delete("uid-web")
    again = order("web")
    node.workers.add(type(again)(uid="uid-new", **{k: getattr(again, k) for k in NAMED}))
    node.run(0.05)
    assert node.hand.targets() == ("shop/db", WEB)
    node.run(10)
    node.hand.press("kill-container", WEB)
    node.run(2)
    assert [uid for uid, _, code in node.deaths() if code == 137] == ["uid-new"]


NAMED = ("name", "namespace", "containers")


def test_the_same_presses_have_the_same_effect() -> None:
    def play() -> list[tuple[str, int, int | None]]:
        node = Node(seed=3)
        node.hand.press("reorder-events")
        node.hand.press("storm")
        node.run(4)
        node.hand.press("short-lived")
        node.run(20)
        return node.deaths()

    first = play()
    assert len(first) > 5
    assert play() == first
