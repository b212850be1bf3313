"""What a kubelet makes of a pod's order for the runtime."""

from app.sim.flavour import SECOND
from app.sim.pods import ContainerSpec, PodSpec, container_config, sandbox_config

APP = ContainerSpec(name="app", image="registry.example/app:1")
POD = PodSpec(
    uid="u-1",
    name="web-0",
    namespace="shop",
    containers=(APP,),
    labels={"app": "web"},
    grace_ns=45 * SECOND,
)


def test_a_sandbox_carries_the_pods_labels_and_the_kubelets() -> None:
    config = sandbox_config(POD, 3)
    assert (config.name, config.namespace, config.uid, config.attempt) == (
        "web-0",
        "shop",
        "u-1",
        3,
    )
    assert config.labels == {
        "app": "web",
        "io.kubernetes.pod.name": "web-0",
        "io.kubernetes.pod.namespace": "shop",
        "io.kubernetes.pod.uid": "u-1",
    }
    assert config.annotations == {"kubernetes.io/config.source": "api"}


def test_a_pod_cannot_pass_for_another_by_its_labels() -> None:
    pod = PodSpec(
        uid="u-2",
        name="liar",
        namespace="shop",
        containers=(),
        labels={"io.kubernetes.pod.uid": "u-1"},
    )
    assert sandbox_config(pod, 0).labels["io.kubernetes.pod.uid"] == "u-2"


def test_a_container_carries_the_kubelets_labels_and_annotations() -> None:
    config = container_config(POD, APP, 2)
    assert config.labels == {
        "io.kubernetes.container.name": "app",
        "io.kubernetes.pod.name": "web-0",
        "io.kubernetes.pod.namespace": "shop",
        "io.kubernetes.pod.uid": "u-1",
    }
    assert config.annotations["io.kubernetes.container.restartCount"] == "2"
    assert config.annotations["io.kubernetes.pod.terminationGracePeriod"] == "45"
    assert config.log_path == "/var/log/pods/shop_web-0_u-1/app/2.log"


def test_the_nodes_network_is_asked_for() -> None:
    pod = PodSpec(uid="u", name="p", namespace="kube-system", containers=(), host_network=True)
    assert sandbox_config(pod, 0).host_network
    assert not sandbox_config(POD, 0).host_network


def test_why_a_program_cannot_be_started_is_the_runtimes_to_know() -> None:
    spec = ContainerSpec(name="app", image="i", cannot_start="no such program")
    assert container_config(POD, spec, 0).cannot_start == "no such program"
    assert container_config(POD, APP, 0).cannot_start == ""
