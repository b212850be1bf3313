"""The build hook: it takes only what was pinned, says what went wrong, and fetches once."""

import base64
import hashlib
import io
import tarfile
from pathlib import Path
from typing import Any

import hatch_build
import pytest
from hatch_build import Asset, BuildError, CustomBuildHook

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = b"// a script"
LICENCE = b"do what you like"


def tarball(files: dict[str, bytes]) -> bytes:
    """A package as npm packs it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(f"package/{name}")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


PACKAGE = tarball({"dist/x.js": SCRIPT, "LICENSE": LICENCE, "evil.js": b"never wanted"})


def asset(package: bytes = PACKAGE, script: bytes = SCRIPT) -> Asset:
    """A pinned asset that expects `package` with `script` in it."""
    digest = base64.b64encode(hashlib.sha512(package).digest()).decode()
    return Asset(
        package="x",
        version="1.2.3",
        integrity=f"sha512-{digest}",
        directory="x",
        files={
            "dist/x.js": ("x.js", hashlib.sha256(script).hexdigest()),
            "LICENSE": ("LICENSE", hashlib.sha256(LICENCE).hexdigest()),
        },
    )


class Registry:
    """Stands in for npm: hands out a tarball and counts."""

    def __init__(self, package: bytes) -> None:
        self.package = package
        self.asked = 0

    def pack(self, asset: Asset, directory: Path) -> Path:
        self.asked += 1
        path = directory / f"{asset.package}-{asset.version}.tgz"
        path.write_bytes(self.package)
        return path


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """A registry that has PACKAGE."""
    made = Registry(PACKAGE)
    monkeypatch.setattr(hatch_build, "npm_pack", made.pack)
    return made


def test_only_the_wanted_files_arrive(tmp_path: Path, registry: Registry) -> None:
    assert hatch_build.fetch(tmp_path, asset())
    target = tmp_path / "static" / "vendor" / "x"
    assert {path.name: path.read_bytes() for path in target.iterdir()} == {
        "x.js": SCRIPT,
        "LICENSE": LICENCE,
    }


def test_what_is_there_is_not_fetched_again(tmp_path: Path, registry: Registry) -> None:
    hatch_build.fetch(tmp_path, asset())
    assert not hatch_build.fetch(tmp_path, asset())
    assert registry.asked == 1


@pytest.mark.parametrize("name", ["x.js", "LICENSE"])
def test_a_changed_or_missing_file_is_fetched_anew(
    tmp_path: Path, registry: Registry, name: str
) -> None:
    hatch_build.fetch(tmp_path, asset())
    path = tmp_path / "static" / "vendor" / "x" / name
    path.write_bytes(b"changed")
    assert hatch_build.fetch(tmp_path, asset())
    path.unlink()
    assert hatch_build.fetch(tmp_path, asset())
    assert registry.asked == 3


def test_another_tarball_is_refused(tmp_path: Path, registry: Registry) -> None:
    registry.package = tarball({"dist/x.js": SCRIPT, "LICENSE": LICENCE})
    with pytest.raises(BuildError, match=r"sent another x 1\.2\.3 than the one that was pinned"):
        hatch_build.fetch(tmp_path, asset())
    assert not (tmp_path / "static").exists()


def test_a_file_other_than_pinned_is_refused_and_the_old_one_stays(
    tmp_path: Path, registry: Registry
) -> None:
    hatch_build.fetch(tmp_path, asset())
    with pytest.raises(BuildError, match=r"dist/x\.js of x 1\.2\.3 is not the file"):
        hatch_build.fetch(tmp_path, asset(script=b"// newer"))
    assert (tmp_path / "static" / "vendor" / "x" / "x.js").read_bytes() == SCRIPT


def test_no_registry_is_said_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    with pytest.raises(BuildError) as caught:
        hatch_build.fetch(tmp_path, hatch_build.ASSETS[0])
    text = str(caught.value)
    assert "htmx.org 4.0.1 could not be fetched from the npm registry (npm says: " in text
    assert text.endswith("run the same command again.")
    assert not (tmp_path / "static").exists()


@pytest.mark.parametrize(("room", "name"), [("cri", "cri"), ("sim", "cri_changes")])
def test_code_is_generated(tmp_path: Path, room: str, name: str) -> None:
    (tmp_path / "proto").symlink_to(ROOT / "proto")
    hatch_build.generate(tmp_path)
    made = {path.name for path in (tmp_path / "app" / room / "pb").iterdir()}
    assert made == {"__init__.py", f"{name}_pb2.py", f"{name}_pb2.pyi"}


def test_the_checkouts_code_is_up_to_date(tmp_path: Path) -> None:
    (tmp_path / "proto").symlink_to(ROOT / "proto")
    hatch_build.generate(tmp_path)
    for made in hatch_build.PROTOS.values():
        for path in (tmp_path / made).iterdir():
            assert path.read_bytes() == (ROOT / made / path.name).read_bytes()


def test_a_broken_proto_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "proto").mkdir()
    (tmp_path / "proto" / "cri.proto").write_text('syntax = "proto3"; message {')
    with pytest.raises(
        BuildError,
        match=r"the protobuf compiler failed on proto/cri\.proto: .*Expected message name",
    ):
        hatch_build.generate(tmp_path)


def hook(root: Path) -> CustomBuildHook:
    """The hook as hatchling makes it."""
    builder: Any = None
    return CustomBuildHook(str(root), {}, builder, builder, str(root), "wheel")


@pytest.mark.parametrize("version", ["standard", "editable"])
def test_assets_move_into_the_package_except_in_an_editable_install(
    tmp_path: Path, version: str, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hatch_build, "ASSETS", (asset(),))
    (tmp_path / "proto").symlink_to(ROOT / "proto")
    (tmp_path / "templates").mkdir()
    data: dict[str, Any] = {"artifacts": [], "force_include": {}}
    hook(tmp_path).initialize(version, data)
    assert data["artifacts"] == ["/app/cri/pb/", "/app/sim/pb/", "/app/export/pb/"]
    moved = {
        str(tmp_path / "static"): "app/static",
        str(tmp_path / "templates"): "app/templates",
    }
    assert data["force_include"] == (moved if version == "standard" else {})


def test_clean_removes_what_was_made(tmp_path: Path, registry: Registry) -> None:
    hatch_build.fetch(tmp_path, asset())
    (tmp_path / "static" / "app.js").write_text("ours")
    hook(tmp_path).clean([])
    assert [path.name for path in (tmp_path / "static").iterdir()] == ["app.js"]
