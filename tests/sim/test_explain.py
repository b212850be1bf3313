"""What a wrong scenario file is answered with: where it is wrong, and what may stand there."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import ScenarioError
from app.sim import library
from app.sim.explain import explain
from app.sim.library import parse
from app.sim.scenariofile import ScenarioFile

HEAD = 'title = "A title"\nshows = "Something."\n'


def wrong(text: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        parse(HEAD + text, "mine", "a/mine.toml")
    told = str(caught.value)
    assert told.startswith("a/mine.toml: ")
    assert told.endswith(". Correct it there.")
    assert "$" not in told
    return told


CRON_JOB = '[[workload]]\nkind = "cron-job"\nname = "j"\n'
REPLICAS = '[[workload]]\nkind = "replicas"\nname = "web"\n'


@pytest.mark.parametrize(
    ("text", "place", "allowed"),
    [
        ("colour = 1", "mine.toml: there is no key `colour`", "workload, fault, engine, node"),
        ("seed = -1", ": seed: ", "a whole number >= 0"),
        ('seed = "7"', ": seed: ", "a whole number, not a text"),
        ("seed = 1979-05-27", ": seed: ", "a whole number"),
        ("duration = 30", ": duration: ", 'such as "30s"'),
        ('duration = "0s"', "mine.toml: ", "`duration` is 1 ms at least"),
        ("workload = 5", ": workload: ", "an array"),
        ("[[workload]]\n", ": workload 1: ", "demo, replicas, cron-job, training-group"),
        ('[[workload]]\nkind = "pods"', ": workload 1 (pods), kind: ", "one of demo, replicas"),
        ("[[workload]]\nkind = 5", ": workload 1, kind: ", "one of demo, replicas"),
        ('[[workload]]\nkind = "replicas"', ": workload 1 (replicas): ", "key `name` is missing"),
        (REPLICAS + 'colour = "red"', ": workload 1 (web): ", "kind, name, namespace, controller"),
        (REPLICAS + "count = 501", ": workload 1 (web), count: ", "<= 500"),
        (REPLICAS + 'namespace = "A b"', ": workload 1 (web), namespace: ", "lower case letters"),
        (REPLICAS + 'controller = "Job"', "controller: ", "DaemonSet, Deployment, StatefulSet"),
        (REPLICAS + 'restart_policy = "no"', "restart_policy: ", "Always, Never, OnFailure"),
        (REPLICAS + "range = [1, 2]", ": workload 1 (web): ", "go together"),
        (
            REPLICAS + 'range = [2, 2]\nscale_every = ["1s", "2s"]',
            ": workload 1 (web): ",
            "such as [2, 4]",
        ),
        (REPLICAS + 'rollout_every = ["2s", "1s"]', ": workload 1 (web): ", "in this order"),
        (REPLICAS + 'rollout_every = ["1ms", "1s"]', ": workload 1 (web): ", "10 ms at least"),
        (REPLICAS + 'rollout_every = ["2s"]', "rollout_every: ", "length of 2"),
        (
            REPLICAS + '[[workload.mishap]]\nevery = ["soon", "1s"]',
            ": workload 1 (web), mishap 1, every 1: ",
            'such as "30s"',
        ),
        (
            REPLICAS + '[[workload.mishap]]\nevery = ["1s", "1s"]\nending = "fire"',
            "mishap 1, ending: ",
            "completed, error, killed, oom-killed",
        ),
        (
            REPLICAS + '[[workload.mishap]]\nevery = ["1s", "1s"]\ncontainers = ["db"]',
            ": workload 1 (web): ",
            "there is no container db; there is web",
        ),
        (
            REPLICAS + 'end_all = [{ at = "1s", container = "db" }]',
            ": workload 1 (web): ",
            "there is no container db",
        ),
        (
            REPLICAS + 'container = [{ name = "a" }, { name = "a" }]',
            ": workload 1 (web): ",
            "cannot have one name",
        ),
        (
            REPLICAS + 'container = [{ name = "a", runs = ["3s", "2s"] }]',
            "container 1 (a): ",
            "`runs` is the shortest",
        ),
        (REPLICAS + REPLICAS, "mine.toml: ", "two workloads are called default/web"),
        (
            "".join(REPLICAS.replace("web", f"w{n}") + "count = 500\n" for n in range(3)),
            "mine.toml: ",
            "1000 pods at the same time at most",
        ),
        (
            CRON_JOB + 'every = ["10ms", "1s"]\nruns = ["1h", "2h"]',
            ": workload 1 (j): ",
            "a longer `every`",
        ),
        ('[[fault]]\nkind = "quake"', ": fault 1 (quake), kind: ", "stream-refused, stream-ends"),
        ('[[fault]]\nkind = "lists-hang"', ": fault 1 (lists-hang): ", "key `at` is missing"),
        (
            '[[fault]]\nkind = "events-lost"\nat = "1s"\nshare = 2',
            ": fault 1 (events-lost), share: ",
            "a number <= 1",
        ),
        (
            '[[fault]]\nkind = "events-lost"\nat = "1s"\nevents = ["born"]',
            "events 1: ",
            "created, deleted, started, stopped",
        ),
        (
            '[[fault]]\nkind = "events-misdated"\nat = "1s"\nby = "1h"',
            ", by: ",
            'such as "-1h"',
        ),
        (
            '[[fault]]\nkind = "lists-slow"\nat = "1s"\nby = ["2s", "1s"]',
            ": fault 1 (lists-slow): ",
            "in this order",
        ),
        ('[engine]\nperiod = "1ms"', ": engine: ", "`period` is 10 ms at least"),
        ("[engine]\nqueue = 0", ": engine, queue: ", ">= 1"),
        ("[node]\nbackoff_scale = 0", ": node, backoff_scale: ", ">= 0.001"),
        ("[engine]\nspeed = 1", ": engine: ", "period, threshold, queue"),
    ],
)
def test_what_cannot_be_is_told_with_its_place_and_what_may_be(
    text: str, place: str, allowed: str
) -> None:
    told = wrong(text)
    assert place in told
    assert allowed in told


def test_hostile_words_do_not_fill_or_move_the_terminal() -> None:
    told = wrong('"\\u001b[2J' + "x" * 5000 + '" = 1')
    assert len(told) < 400
    assert told.isprintable()
    told = wrong('[[workload]]\nkind = "replicas"\nname = "\\u001b]0;x\\u0007"\n')
    assert told.isprintable()


WORDS = st.sampled_from(
    ["title", "shows", "seed", "duration", "workload", "fault", "engine", "node", "kind", "at"]
)
VALUES = st.recursive(
    st.none().map(lambda _: "x")
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(["replicas", "demo", "events-lost", "30s", "web", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(WORDS, VALUES, max_size=6))
def test_any_data_is_a_scenario_or_an_error_with_a_place(data: dict[str, object]) -> None:
    place, what = "", "a scenario"
    try:
        msgspec.convert(data, ScenarioFile, dec_hook=library.special)
    except msgspec.ValidationError as error:
        place, what = explain(error, data, ScenarioFile)
    assert "$" not in place
    assert what
    assert "`" not in place
