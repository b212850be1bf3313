"""Whether an engine's records and pod cache are what its node shows."""

from collections.abc import Set

from tests.engine.facts import WORDS
from tests.engine.oracle import Oracle
from tests.engine.play import Stage


def converged(
    stage: Stage, oracle: Oracle, *, forward: bool, besides: Set[str] = frozenset()
) -> None:
    """Records, cache and oracle agree with the node, pod by pod, ``besides`` left out.

    ``forward``: states never went back. Else what goes to and fro between a list and its inspection
    no PLEG can see, and only the ids of a cached status are compared.
    """
    node, cache = stage.node, stage.engine.cache
    truth = {uid: {item.id: WORDS[item.state] for item in node.of(uid)} for uid in node.pods()}
    recorded = stage.recorded()
    assert set(recorded) - besides == set(truth) - besides
    assert set(cache.uids()) - besides == set(truth) - besides == set(oracle.published) - besides
    for uid in set(truth) - besides:
        states, entry, told = truth[uid], cache.entry(uid), oracle.cached[uid]
        assert recorded[uid] == states
        assert entry is not None
        assert entry.error == told.error == ""
        assert entry.status.containers == told.containers
        assert entry.status.sandboxes == told.sandboxes
        cached = {one: WORDS[state] for one, state in stage.statuses(uid).items()}
        assert cached == states if forward else set(cached) == set(states)
