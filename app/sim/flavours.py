"""The runtimes that a simulated node can behave like, by name.

Measured on containerd 1.6.20, 1.7.24 and 2.1.9 and on CRI-O 1.37.0-dev, with what their sources add
(containerd #9661: broadcasting since 2.0). What was not measured on 1.6, which has no event stream,
is taken to be as on 1.7; that CRI-O tells of a dead pause process as containerd does is a guess.
"""

from typing import Literal

from app.errors import SettingsError
from app.sim.flavour import MS, SECOND, Backlog, RuntimeRules

FlavourName = Literal["containerd-2", "containerd-1.7", "containerd-1.6", "cri-o"]

# Versions that sort as the true ones do, and that nobody takes for a real one.
CONTAINERD_2 = RuntimeRules(
    like="containerd-2",
    runtime_name="containerd",
    runtime_version="2.1.0+plegscope.sim",
    tells_config=True,
    warns_of_age=True,
    slots=100,
    # No limit was met on a real one; this one is ours.
    backlog=Backlog(count=10_000, keeps="newest", age_ns=300 * SECOND),
    ghosts=(1, 2),
    # Go's zero time in nanoseconds, overflowed; seen in every DELETED event of a sandbox.
    removed_created_at=-6795364578871345152,
)

CONTAINERD_1_7 = RuntimeRules(
    like="containerd-1.7",
    runtime_name="containerd",
    runtime_version="1.7.0+plegscope.sim",
    warns_of_age=True,
    stream="one",
    channel=1000,
    backlog=Backlog(count=1000, keeps="oldest"),
    ghosts=(1, 2),
    bare_removal=True,
    exit_lag=(50 * MS, 65 * MS, 166 * MS),
    crowd_lag=(31 * MS, 48 * MS),
)

CONTAINERD_1_6 = RuntimeRules(
    like="containerd-1.6",
    runtime_name="containerd",
    runtime_version="1.6.0+plegscope.sim",
    stream="none",
    bare_removal=True,
    overlooked="true",
    exit_lag=CONTAINERD_1_7.exit_lag,
    crowd_lag=CONTAINERD_1_7.crowd_lag,
)

CRI_O = RuntimeRules(
    like="cri-o",
    runtime_name="cri-o",
    runtime_version="1.37.0+plegscope.sim",
    tells_config=True,
    channel=1000,
    backlog=Backlog(count=1000, keeps="oldest", once=True),
    stops_with="eof",
    sandbox_run=("started",),
    sandbox_removed=(),
    quiet_removal=True,
    sandbox_labels={"io.kubernetes.container.name": "POD"},
    names_images="by name, digest and id",
    default_logs=True,
    order="newest-first",
    start_fails_in="create",
    started_lag=(6 * MS, 20 * MS),
    overlooked="true",
    finished_off=(-6 * MS, 10 * MS),
    exit_lag=(21 * MS, 38 * MS, 72 * MS),
    crowd_lag=(3 * MS, 27 * MS),
    crowd_shape=1.4,
)

FLAVOURS: dict[FlavourName, RuntimeRules] = {
    "containerd-2": CONTAINERD_2,
    "containerd-1.7": CONTAINERD_1_7,
    "containerd-1.6": CONTAINERD_1_6,
    "cri-o": CRI_O,
}


def rules_of(name: str) -> RuntimeRules:
    """The rules of the runtime of that name.

    Raises:
        SettingsError: there is none; says which there are.
    """
    for known, rules in FLAVOURS.items():
        if known == name:
            return rules
    raise SettingsError(
        f"{name!r} is no runtime that can be simulated: choose one of {', '.join(FLAVOURS)}."
    )
