"""What a rebuilt runtime can tell and what it cannot, in sentences."""

from collections.abc import Iterator

from app.engine.profiles import PROFILES
from app.whatif.evidence import Evidence, Item
from app.whatif.options import Options
from app.whatif.play import Played
from app.words import count, duration


def knowledge(evidence: Evidence, run: Played, options: Options) -> Iterator[str]:
    """What the answer rests on."""
    containers = sum(one.first.kind == "container" for one in evidence.items.values())
    yield (
        f"The runtime is rebuilt from {count(evidence.listings, 'listing')}, "
        f"{count(len(evidence.inspections.began), 'inspection')} and "
        f"{count(evidence.events, 'stream event')} about {count(containers, 'container')}; between "
        "two looks it changed when its own times and its events say so."
    )
    if run.delivered > run.assumed:
        told = run.delivered - run.assumed
        yield f"{count(told, 'stream event')} came when the recording had them."
    syncs = sum(map(len, evidence.syncs.values()))
    if not syncs or options.hold_ns == 0:
        return
    if options.hold_ns is None:
        yield f"{count(syncs, 'SyncPod')} began and ended when the recording says."
    else:
        played = sum(map(len, run.held.spans.values()))
        yield (
            f"{count(syncs, 'recorded SyncPod')} began when the recording says and took "
            f"{duration(options.hold_ns)} each; {count(played, 'SyncPod')} came of it, as those "
            "that must wait for the one before become one."
        )


def limits(evidence: Evidence, run: Played, options: Options, follows: int) -> Iterator[str]:
    """What it cannot tell."""
    profile = PROFILES[options.settings(evidence.info.settings).profile]
    yield (
        "What happened because of a finding stays as recorded: whoever notices sooner restarts "
        "sooner, and that is not played."
    )
    yield (
        "Polls come at another moment of their period in each run: where a poll is what finds, "
        "any moment within the span is possible."
    )
    yield "What began and ended between two looks without a trace is not there."
    if follows:
        yield (
            f"{count(follows, 'start')} came of what this run had not found by then, and "
            f"{'is' if follows == 1 else 'are'} not compared."
        )
    if run.assumed:
        yield (
            f"Nobody listened to the stream when {count(run.assumed, 'event')} would have come: "
            "each is taken to have come with its change."
        )
    if follows:
        yield "Their containers are left out of both wrong caches."
    if evidence.unlisted:
        number = count(len(evidence.unlisted), "container or sandbox", "containers and sandboxes")
        yield f"No listing shows {number} that events told of: they are not played."
    if not evidence.syncs and profile.suspension:
        if options.hold_ns:
            yield (
                "The recording does not say when SyncPod ran (a real node's kubelet does not tell "
                "it), so there is nothing whose length could be another: no relist waits."
            )
        else:
            yield "The recording does not say when SyncPod ran, so no relist waits for it."
    if evidence.syncs and options.hold_ns:
        if profile.suspension:
            yield (
                "What a SyncPod did to the runtime stays where it was recorded, also where it now "
                "takes another time."
            )
        else:
            yield (
                f"Under {profile.name} no relist waits for SyncPod: another length only moves what "
                "pod workers ask for."
            )
    yield (
        "For how long a cache was wrong lies between two figures: the runtime changed somewhere "
        "between two looks, and this run would have noticed somewhere within its bounds."
    )
    if profile.hints == "write":
        yield (
            "Whether an older event overwrites what is newer hangs on milliseconds that nobody "
            "recorded, and stands until the next poll: for how long this run's cache is wrong at "
            "most is not known."
        )
    if profile.hints == "write" and any(_bare(one) for one in evidence.items.values()):
        yield "What events carried was not recorded: it is rebuilt from the looks around them."
    heard = run.lost + run.delivered
    worse = options.loss or options.delay_ns
    if worse and not heard and profile.hints == "none":
        yield (
            f"{profile.name} does not listen to the event stream, so what becomes of it changes "
            "nothing."
        )
    elif options.silent:
        yield (
            f"The stream was open and silent from the beginning: {count(run.lost, 'event')} did "
            "not come."
        )
    elif options.loss:
        yield (
            f"{run.lost:,} of {count(heard, 'event')} lost by the dice of "
            f"seed {options.seed}; others would have lost others."
        )
    missing = sum(to - begin for begin, to in evidence.holes)
    if evidence.holes:
        yield (
            f"The recording has {count(len(evidence.holes), 'gap')} ({duration(missing)} in all): "
            "what changed there is known to be somewhere in it."
        )


def _bare(item: Item) -> bool:
    return any(not one.event.containers for one in item.hints.values())
