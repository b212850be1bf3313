"""The lab by hand: a private containerd of each version, and pods to make and break.

An instance stays until it is purged; pods made here are told apart by a label, and nothing
else is ever touched. Example:

    python -m tests.lab start                  # containerd 2.x; --version 1.7 or 1.6 for others
    python -m tests.lab run web --count 3
    python -m tests.lab kill web-0
    python -m tests.lab purge
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import grpc

from tests.lab.containerd import Containerd, check_machine
from tests.lab.cri import Cri, enum_names
from tests.lab.errors import LabError
from tests.lab.kubelet import SLEEP
from tests.lab.packages import SUITES, cache_directory, fetch
from tests.lab.pods import Pods


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="python -m tests.lab",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument(
        "--version", choices=SUITES, default="2", help="which containerd (default: %(default)s)"
    )
    top.add_argument(
        "--instance", default="hand", help="several can run side by side (default: %(default)s)"
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add = commands.add_parser
    one = add("fetch", help="download and unpack containerd (all versions)")
    one.add_argument("--refresh", action="store_true", help="again, even if the cache has it")
    add("start", help="start it; finds its pods again")
    add("stop", help="SIGTERM; pods go on")
    add("crash", help="SIGKILL; pods go on")
    add("freeze", help="SIGSTOP: it accepts connections and answers nothing")
    add("thaw", help="SIGCONT")
    add("status", help="endpoint and version; exit code 3 when it does not run")
    add("purge", help="end it with all its pods and leave no trace")

    one = add("run", help="make and start pods; after -- comes their command")
    one.add_argument("name")
    one.add_argument("--count", type=int, default=1, help="pods, called NAME-0, NAME-1, …")
    one.add_argument("--containers", type=int, default=1, help="containers in each")
    one.add_argument("--memory", type=int, default=0, metavar="MIB", help="limit of each container")
    add("ps", help="list pods and containers")
    one = add("kill", help="signal main processes, from outside of the runtime")
    one.add_argument("pod", nargs="+", help="name, or beginning of the sandbox's id")
    one.add_argument("--signal", default="KILL", help="name without SIG (default: %(default)s)")
    one.add_argument("--pause", action="store_true", help="the sandbox's own process instead")
    one = add("stop-containers", help="StopContainer, as a kubelet does")
    one.add_argument("pod", nargs="+")
    one.add_argument("--grace", type=int, default=1, metavar="S", help="seconds before SIGKILL")
    one = add("stop-pod", help="StopPodSandbox")
    one.add_argument("pod", nargs="+")
    one = add("restart", help="start the next attempt of container c0")
    one.add_argument("pod", nargs="+")
    one = add("rm", help="stop and remove pods; without a name, all")
    one.add_argument("pod", nargs="*")
    one = add("storm", help="make pods and kill all of them within milliseconds")
    one.add_argument("--count", type=int, default=100)
    one = add("events", help="print container events until interrupted")
    one.add_argument("--seconds", type=float, help="end by itself after so long")
    return top


def on_instance(containerd: Containerd, args: argparse.Namespace) -> int:
    """Carry out a command that is about containerd itself; returns the exit code."""
    actions: dict[str, Callable[[], None]] = {
        "start": containerd.start,
        "stop": containerd.stop,
        "crash": containerd.kill,
        "freeze": containerd.freeze,
        "thaw": containerd.thaw,
        "purge": containerd.purge,
    }
    if args.command in actions:
        actions[args.command]()
    if args.command not in ("start", "status"):
        return 0
    if not containerd.pid:
        print(f"containerd {args.version} does not run; start it with `start`")
        return 3
    print(f"{containerd.endpoint}  pid {containerd.pid}  log {containerd.log_file}")
    with Cri(containerd.endpoint) as cri:
        answer = cri.call("Version", timeout_s=2.0)
    print(answer.runtime_name, answer.runtime_version)
    return 0


def on_pods(pods: Pods, args: argparse.Namespace, command: list[str]) -> None:
    """Carry out a command that is about pods."""
    if args.command == "run":
        options = {"containers": args.containers, "memory_mib": args.memory}
        if args.count == 1:
            made = [pods.run(args.name, command, **options)]
        else:
            made = pods.run_many(args.count, args.name, command, **options)
        for pod in made:
            print(pod.name, pod.sandbox_id[:13], *(i[:13] for i in pod.container_ids))
    elif args.command == "storm":
        killed = [c for pod in pods.storm(args.count) for c in pod.container_ids]
        started = time.monotonic()
        pods.wait_exited(killed)
        print(f"{len(killed)} killed; listed as exited after {time.monotonic() - started:.2f} s")
    elif args.command == "events":
        with contextlib.suppress(KeyboardInterrupt), pods.events(args.seconds) as stream:
            for event in stream:
                print(describe(event), flush=True)
    elif args.command == "ps":
        show(pods)
    elif args.command == "rm" and not args.pod:
        print(f"{pods.remove_all()} pods removed")
    else:
        number = signal.Signals[f"SIG{args.signal}"] if args.command == "kill" else 0
        for sandbox_id in (found for word in args.pod for found in pods.find(word)):
            if args.command == "kill":
                kill = pods.kill_pause if args.pause else pods.kill
                print(f"processes signalled: {kill(sandbox_id, number)}")
            elif args.command == "stop-containers":
                pods.stop(sandbox_id, args.grace)
            elif args.command == "stop-pod":
                pods.stop_pod(sandbox_id)
            elif args.command == "restart":
                print(pods.restart(pods.adopt(sandbox_id)))
            else:
                pods.remove(sandbox_id)


def show(pods: Pods) -> None:
    """Print the pods with their containers."""
    sandbox_states = enum_names("PodSandboxState")
    for sandbox in pods.pods():
        print(sandbox.metadata.name, sandbox.id[:13], sandbox_states[sandbox.state])
        for container in pods.containers(sandbox.id):
            now = pods.status(container.id)
            ended = f"exit {now.exit_code} {now.reason}" if now.state.endswith("EXITED") else ""
            print(f"    {now.name} #{now.attempt}", now.id[:13], now.state, ended)


def describe(event: Any) -> str:
    """One line for an event: age, type, container, pod, and how the container ended."""
    age_ms = (time.time_ns() - event.created_at) / 1e6
    kind = enum_names("ContainerEventType")[event.container_event_type]
    kind = kind.removeprefix("CONTAINER_").removesuffix("_EVENT")
    sandbox = event.pod_sandbox_status
    words = [f"{age_ms:9.1f} ms", f"{kind:8}", event.container_id[:13]]
    words.append(sandbox.metadata.name or "?")
    for status in event.containers_statuses:
        if status.id == event.container_id:
            words.append(f"{status.metadata.name} #{status.metadata.attempt}")
            if enum_names("ContainerState")[status.state] == "CONTAINER_EXITED":
                words.append(f"exit {status.exit_code} {status.reason}")
    if sandbox.id == event.container_id:
        words.append("(sandbox)")
    return " ".join(words)


def main(argv: list[str]) -> int:
    """Run one command; returns the exit code. LabError and grpc.RpcError are for the caller."""
    split = argv.index("--") if "--" in argv else len(argv)
    args = parser().parse_args(argv[:split])
    if args.command == "fetch":
        for version in SUITES:
            print(f"{version:4} {fetch(version, refresh=args.refresh).text}")
        print(f"in {cache_directory()}")
        return 0
    check_machine()
    containerd = Containerd(args.version, name=f"{args.instance}-{args.version}")
    instance = ("start", "stop", "crash", "freeze", "thaw", "status", "purge")
    if args.command in instance:
        return on_instance(containerd, args)
    if not containerd.pid:
        raise LabError(f"containerd {args.version} does not run. Start it with `start`.")
    pods = Pods(containerd.endpoint, run=args.instance, cgroup_parent=containerd.cgroup)
    try:
        on_pods(pods, args, argv[split + 1 :] or list(SLEEP))
    finally:
        pods.close()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except LabError as error:
        sys.exit(str(error))
    except grpc.RpcError as error:
        sys.exit(f"{error.code().name}: {error.details()}")
