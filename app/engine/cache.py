"""The pod cache (kubelet container/cache.go) and the rule that keeps a dead pod's IPs."""

from ipaddress import ip_address

import msgspec

from app.engine.model import ContainerStatus, PodStatus, SandboxStatus


class Entry(msgspec.Struct):
    """A cached status, or the error of the inspection that failed. Times are monotonic ns."""

    status: PodStatus
    error: str
    modified: int
    observed: int


class PodCache:
    """What a pod worker would read. Written by relists alone (KEP-3386: one writer)."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._waiters: dict[str, list[tuple[int, int]]] = {}
        self._next_waiter = 0
        self._woken: list[int] = []
        self.time: int | None = None
        """Start of the newest global relist that ran to its end."""

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, uid: str) -> PodStatus:
        """The cached status; of an unknown pod one that holds only the UID."""
        entry = self._entries.get(uid)
        return PodStatus(uid) if entry is None else entry.status

    def entry(self, uid: str) -> Entry | None:
        """The entry itself, for its error and times."""
        return self._entries.get(uid)

    def uids(self) -> tuple[str, ...]:
        """The pods that have an entry."""
        return tuple(self._entries)

    def set(self, uid: str, status: PodStatus, error: str, t: int) -> None:
        """Store a status, or an error with what is known; wakes this pod's waiters."""
        self._entries[uid] = Entry(status, error, t, t)
        self._wake(uid, t)

    def delete(self, uid: str) -> None:
        """Forget a pod; wakes nobody."""
        self._entries.pop(uid, None)

    def observe(self, uid: str, t: int) -> None:
        """The pod was looked at and had not changed; wakes its waiters, makes no entry."""
        entry = self._entries.get(uid)
        if entry is not None:
            entry.observed = t
        self._wake(uid, t)

    def advance(self, t: int) -> None:
        """A global relist that began at ``t`` is complete; wakes waiters of every pod."""
        self.time = t
        for uid in tuple(self._waiters):
            self._wake(uid, t)

    def newer_than(self, uid: str, minimum: int) -> PodStatus | None:
        """The status if the cache knows something strictly newer than ``minimum``, else None."""
        entry = self._entries.get(uid)
        fresh = self.time is not None and self.time > minimum
        if entry is None:
            return PodStatus(uid) if fresh else None
        if fresh or entry.modified > minimum or entry.observed > minimum:
            return entry.status
        return None

    def wait(self, uid: str, minimum: int) -> int | None:
        """Ask to be woken when something not older than ``minimum`` is known.

        Returns None when ``newer_than`` answers already, else a waiter's number that a later
        ``woken`` names once. The wake-up is content with an equal time, the first look is not
        (kubelet container/cache.go).
        """
        if self.newer_than(uid, minimum) is not None:
            return None
        self._next_waiter += 1
        self._waiters.setdefault(uid, []).append((minimum, self._next_waiter))
        return self._next_waiter

    def woken(self) -> tuple[int, ...]:
        """Waiters released since the last call."""
        released = tuple(self._woken)
        self._woken.clear()
        return released

    def _wake(self, uid: str, t: int) -> None:
        waiting = self._waiters.pop(uid, None)
        if waiting is None:
            return
        staying = [waiter for waiter in waiting if waiter[0] > t]
        self._woken.extend(number for minimum, number in waiting if minimum <= t)
        if staying:
            self._waiters[uid] = staying


def pod_status(
    uid: str,
    name: str,
    namespace: str,
    sandboxes: tuple[SandboxStatus, ...],
    containers: tuple[ContainerStatus, ...],
) -> PodStatus:
    """A pod's status from its inspection: newest first, IPs of the newest sandbox if it is ready.

    An address that cannot be parsed invalidates them all (kubelet kuberuntime ``GetPodStatus``).
    """
    newest = tuple(sorted(sandboxes, key=lambda s: (-s.created_at, s.id)))
    ips: tuple[str, ...] = ()
    if newest and newest[0].runtime_state == "ready" and all(map(_is_ip, newest[0].ips)):
        ips = newest[0].ips
    ordered = tuple(sorted(containers, key=lambda c: (-c.created_at, c.id)))
    return PodStatus(uid, name, namespace, ips, ordered, newest)


def keep_ips(new: PodStatus, cached: Entry | None) -> PodStatus:
    """A dead pod keeps its last IPs (kubelet pleg/generic.go ``getPodIPs``; behaviours E)."""
    if new.ips or cached is None or cached.error or not cached.status.ips:
        return new
    if any(sandbox.runtime_state == "ready" for sandbox in new.sandboxes):
        return new
    return msgspec.structs.replace(new, ips=cached.status.ips)


def _is_ip(text: str) -> bool:
    if "%" in text:
        # Python knows addresses with a zone; the kubelet's parser (Go net.ParseIP) does not.
        return False
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
