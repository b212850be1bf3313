"""A node that does not exist: a container runtime, a kubelet's pod workers, workloads.

plegscope watches this node as it watches any other: over gRPC, through a unix socket. Nothing in
here is seen by the rest except through that socket, the few inputs that only a kubelet can give
(SyncPod began and ended, the post-sync request), and the records that the workers react to.

::

    workloads ──step──▶ node ──add, delete, kill──▶ workers ──▶ world ──event──▶ hub ──▶ CRI server
                                                      ▲  │                                   │
                                     Lifecycle record │  │ SyncStarted, SyncEnded, request   │ gRPC
                                                      │  ▼                                   ▼
                                                     journal ◀──────────── engine ◀──── CRI client

Everything that takes time stands in one :class:`app.sim.agenda.Agenda`, a heap of appointments.
A driver decides what a second is: the real one (``node.py``), or a virtual one (``virtual.py``, a
whole session without socket, server or event loop, in which ``virtualruntime.py`` stands for CRI
server and client). World, workers and workloads hold no task, no lock and no clock.

A scenario (``scenario.py``) is workloads, faults and numbers; ``scenarios/`` holds those that come
with plegscope, as TOML files that ``library.py`` reads.

What is left out on purpose: images are always there, probes and init containers exist only as far
as a workload asks for them, the kubelet's periodic resync of unchanged pods, volumes, and what the
runtime says of resources (a resize in place is known to the pod workers alone, see ``sizes.py``).
"""
