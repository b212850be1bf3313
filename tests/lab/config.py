"""containerd's configuration file for a private instance.

containerd 1.x reads version 2 of the format, 2.x version 3, where the CRI plugin is split in
two and has other names. Everything that containerd would put outside of its root and state
by default is pointed into the instance's directory.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.lab.image import IMAGE

CAP_SYS_RESOURCE = 24


def may_lower_oom_score(status: str) -> bool:
    """Whether a process may lower an oom_score_adj, from the text of its /proc/…/status.

    runc fails without that capability unless containerd restricts the value it asks for.
    """
    for line in status.splitlines():
        key, _, value = line.partition(":")
        if key == "CapEff":
            return bool(int(value, 16) >> CAP_SYS_RESOURCE & 1)
    return False


def containerd_config(
    config_version: int, directory: Path, socket: Path, runc: Path, *, log_level: str
) -> str:
    """The file's text. Pods use the host's network, so the CNI directory stays empty."""
    restrict = not may_lower_oom_score(Path("/proc/self/status").read_text())
    runtime = {
        "runtime_type": "io.containerd.runc.v2",
        "options": {
            "BinaryName": str(runc),
            "Root": str(directory / "runc"),
            "SystemdCgroup": False,
        },
    }
    cri: dict[str, Any] = {"restrict_oom_score_adj": restrict, "disable_apparmor": True}
    cni = {"conf_dir": str(directory / "cni")}
    plugins: dict[str, Any] = {
        "io.containerd.internal.v1.opt": {"path": str(directory / "opt")},
        # Its socket is the same for every containerd on the machine.
        "io.containerd.nri.v1.nri": {"disable": True},
    }
    if config_version == 2:
        cri |= {"sandbox_image": IMAGE, "cni": cni | {"bin_dir": str(directory / "cni")}}
        cri["containerd"] = {"runtimes": {"runc": runtime}}
        plugins["io.containerd.grpc.v1.cri"] = cri
    else:
        cri |= {"cni": cni | {"bin_dirs": [str(directory / "cni")]}}
        cri["containerd"] = {"runtimes": {"runc": runtime}}
        plugins["io.containerd.cri.v1.runtime"] = cri
        plugins["io.containerd.cri.v1.images"] = {"pinned_images": {"sandbox": IMAGE}}
    return toml(
        {
            "version": config_version,
            "root": str(directory / "root"),
            "state": str(directory / "state"),
            "grpc": {"address": str(socket)},
            "debug": {"level": log_level},
            "plugins": plugins,
        }
    )


def toml(table: dict[str, Any], prefix: str = "") -> str:
    """`table` as TOML. JSON's strings, numbers, booleans and lists are TOML's too."""
    lines = [
        f"{key} = {json.dumps(value)}"
        for key, value in table.items()
        if not isinstance(value, dict)
    ]
    text = "".join(f"{line}\n" for line in lines)
    for key, value in table.items():
        if isinstance(value, dict):
            name = f"{prefix}{json.dumps(key)}"
            text += f"\n[{name}]\n{toml(value, f'{name}.')}"
    return text
