"""Where files are found, and what is said when they are not."""

from pathlib import Path

import pytest

from app import resources
from app.errors import InstallationError, PlegscopeError


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The directory of a package with nothing in it, as in site-packages."""
    path = tmp_path / "app"
    path.mkdir()
    return path


def fill(directory: Path, names: tuple[str, ...]) -> None:
    for name in names:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text("x")


def test_this_checkout_is_complete() -> None:
    resources.check_generated()
    assert (resources.static_dir() / "vendor" / "htmx" / "htmx.min.js").stat().st_size > 10_000
    assert resources.templates_dir().is_dir()


def test_files_inside_the_package_come_first(package: Path) -> None:
    (package.parent / "pyproject.toml").touch()
    for base in (package / "static", package.parent / "static"):
        fill(base, resources.VENDOR_FILES)
    assert resources.static_dir(package) == package / "static"


def test_a_checkout_has_them_beside_the_package(package: Path) -> None:
    (package.parent / "pyproject.toml").touch()
    fill(package.parent / "static", resources.VENDOR_FILES)
    assert resources.static_dir(package) == package.parent / "static"


def test_a_stranger_in_site_packages_is_not_taken(package: Path) -> None:
    fill(package.parent / "static", resources.VENDOR_FILES)
    (package.parent / "templates").mkdir()
    with pytest.raises(InstallationError, match="static files are missing"):
        resources.static_dir(package)
    with pytest.raises(InstallationError, match="templates files are missing"):
        resources.templates_dir(package)


def test_missing_assets_say_what_to_run_in_a_checkout(package: Path) -> None:
    (package.parent / "pyproject.toml").touch()
    (package.parent / "static").mkdir()
    with pytest.raises(InstallationError) as caught:
        resources.static_dir(package)
    assert "vendor/htmx/htmx.min.js is missing" in str(caught.value)
    assert str(caught.value).endswith(
        f"Run `pip install -e {package.parent}` (or `make demo` there)."
    )


def test_missing_code_says_what_to_run_when_installed(package: Path) -> None:
    with pytest.raises(InstallationError) as caught:
        resources.check_generated(package)
    assert "cri/pb" in str(caught.value)
    assert str(caught.value).endswith("Run `pip install --force-reinstall plegscope`.")


def test_generated_code_is_found(package: Path) -> None:
    fill(package, resources.GENERATED_FILES)
    resources.check_generated(package)
    (package / resources.GENERATED_FILES[-1]).unlink()
    with pytest.raises(PlegscopeError):
        resources.check_generated(package)
