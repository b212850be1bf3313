"""The node that ``plegscope demo`` shows: a small shop, its batch jobs, a training run, the usual.

About two dozen pods in five namespaces. Something happens every two or three seconds, but to a few
pods only; most lanes stay quiet, as on a real node.
"""

from app.sim.flavour import MS, SECOND
from app.sim.pods import COMPLETED, ERROR, KILLED, OOM_KILLED, ContainerSpec, Lifetime
from app.sim.script import Workload
from app.sim.workloads import CronJob, Mishap, Replicas, TrainingGroup

SHOP = "registry.example/shop"
ADDON = "registry.k8s.io"


def _one(name: str, image: str) -> tuple[ContainerSpec, ...]:
    return (ContainerSpec(name=name, image=image),)


def default_node() -> tuple[Workload, ...]:
    """The workloads of the demo."""
    return (*_checkout(), *_batch(), *_training(), *_kube_system(), *_monitoring())


def _checkout() -> tuple[Workload, ...]:
    """A shop: scaled up and down, a process that dies now and then, probes that fail."""
    return (
        Replicas(
            namespace="checkout",
            name="storefront",
            containers=_one("storefront", f"{SHOP}/storefront:7.3.1"),
            count=2,
            range=(2, 4),
            scale=(17 * SECOND, 29 * SECOND),
        ),
        Replicas(
            namespace="checkout",
            name="cart",
            containers=_one("cart", f"{SHOP}/cart:4.12.0"),
            count=2,
            mishaps=(Mishap(every=(36 * SECOND, 66 * SECOND), containers=("cart",), ending=ERROR),),
        ),
        Replicas(
            namespace="checkout",
            name="orders",
            containers=(
                ContainerSpec(
                    name="orders",
                    image=f"{SHOP}/orders:2.8.4",
                    term=(700 * MS, 1900 * MS),
                ),
                ContainerSpec(name="envoy", image="registry.example/mesh/envoy:1.35.1"),
            ),
            mishaps=(Mishap(every=(62 * SECOND, 84 * SECOND), containers=("orders", "envoy")),),
        ),
        Replicas(
            namespace="checkout",
            name="payments",
            containers=_one("payments", f"{SHOP}/payments:3.1.9"),
            count=2,
            mishaps=(
                Mishap(every=(40 * SECOND, 80 * SECOND), containers=("payments",), ending=KILLED),
            ),
        ),
        Replicas(
            namespace="checkout",
            name="redis",
            kind="StatefulSet",
            containers=_one("redis", "registry.example/library/redis:8.2"),
            mishaps=(
                Mishap(every=(70 * SECOND, 130 * SECOND), containers=("redis",), ending=COMPLETED),
            ),
        ),
    )


def _batch() -> tuple[Workload, ...]:
    """Jobs that end, a crash loop (deployed anew now and then), a process that eats its memory."""
    return (
        CronJob(
            namespace="batch",
            name="invoice",
            image=f"{SHOP}/invoice:1.9.2",
            every=(19 * SECOND, 27 * SECOND),
            runs=(4 * SECOND, 9 * SECOND),
            failures=2,
            ttl_ns=12 * SECOND,
        ),
        CronJob(
            namespace="batch",
            name="export",
            image=f"{SHOP}/export:0.14.0",
            every=(55 * SECOND, 80 * SECOND),
            runs=(9 * SECOND, 16 * SECOND),
            failures=3,
            ttl_ns=12 * SECOND,
        ),
        Replicas(
            namespace="batch",
            name="ledger-sync",
            containers=(
                ContainerSpec(
                    name="ledger-sync",
                    image=f"{SHOP}/ledger-sync:0.3.0-rc2",
                    lifetime=Lifetime((1 * SECOND, 4 * SECOND), (ERROR,)),
                ),
            ),
            rollout=(100 * SECOND, 160 * SECOND),
        ),
        Replicas(
            namespace="batch",
            name="thumbs",
            containers=_one("thumbs", f"{SHOP}/thumbs:5.0.3"),
            mishaps=(
                Mishap(every=(62 * SECOND, 90 * SECOND), containers=("thumbs",), ending=OOM_KILLED),
            ),
        ),
    )


def _training() -> tuple[Workload, ...]:
    """The KEP's user story: four workers that stand still until all four are back."""
    return (
        TrainingGroup(
            namespace="training",
            name="resnet",
            image="registry.example/ml/trainer:2026.10",
            every=(64 * SECOND, 95 * SECOND),
        ),
    )


def _kube_system() -> tuple[Workload, ...]:
    """What every node has."""
    return (
        Replicas(
            namespace="kube-system",
            name="coredns",
            containers=_one("coredns", f"{ADDON}/coredns/coredns:v1.12.4"),
            count=2,
        ),
        Replicas(
            namespace="kube-system",
            name="kube-proxy",
            kind="DaemonSet",
            containers=_one("kube-proxy", f"{ADDON}/kube-proxy:v1.37.0"),
            host_network=True,
        ),
        Replicas(
            namespace="kube-system",
            name="cni-node",
            kind="DaemonSet",
            containers=_one("agent", "registry.example/net/cni-node:1.18.2"),
            host_network=True,
        ),
        Replicas(
            namespace="kube-system",
            name="metrics-server",
            containers=_one("metrics-server", f"{ADDON}/metrics-server/metrics-server:v0.8.0"),
            mishaps=(
                Mishap(
                    every=(80 * SECOND, 150 * SECOND), containers=("metrics-server",), ending=ERROR
                ),
            ),
        ),
    )


def _monitoring() -> tuple[Workload, ...]:
    """Quiet, mostly."""
    return (
        Replicas(
            namespace="monitoring",
            name="prometheus",
            kind="StatefulSet",
            containers=(
                ContainerSpec(name="prometheus", image="registry.example/prom/prometheus:v3.6.0"),
                ContainerSpec(name="reloader", image="registry.example/prom/reloader:v0.86.0"),
            ),
        ),
        Replicas(
            namespace="monitoring",
            name="node-exporter",
            kind="DaemonSet",
            containers=_one("node-exporter", "registry.example/prom/node-exporter:v1.9.1"),
            host_network=True,
        ),
        Replicas(
            namespace="monitoring",
            name="grafana",
            containers=_one("grafana", "registry.example/grafana/grafana:12.2.0"),
            mishaps=(Mishap(every=(66 * SECOND, 110 * SECOND), containers=("grafana",)),),
        ),
        Replicas(
            namespace="monitoring",
            name="alertmanager",
            kind="StatefulSet",
            containers=_one("alertmanager", "registry.example/prom/alertmanager:v0.28.1"),
        ),
    )
