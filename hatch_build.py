"""Builds the core in C into a wheel, if it is asked to: ``OVERLONG_WHEEL=musllinux_1_1_x86_64 python -m build -w``.

Zig builds the wheels of all systems on any machine. ``OVERLONG_WHEEL=here`` takes the compiler of this machine, for
machines like it. Every other wheel, and the source distribution, has the core's source alone.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sysconfig
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

if TYPE_CHECKING:
    from types import ModuleType

PLATFORMS = {
    "manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
    "musllinux_1_1_x86_64": "x86_64-linux-musl",
    "musllinux_1_1_aarch64": "aarch64-linux-musl",
    "macosx_11_0_x86_64": "x86_64-macos.11.0",
    "macosx_11_0_arm64": "aarch64-macos.11.0",
}
"""Tags of wheels, and what Zig calls these systems. It builds for any processor of them."""
HERE = "here"
ZIG = "ziglang==0.17.1"
_CORE = Path("reference/overlong/reference/core")


class CoreInWheel(BuildHookInterface[Any]):
    """Adds the core of one platform, and the wheel's tag."""

    def dependencies(self) -> list[str]:
        return [ZIG] if _asked() in PLATFORMS else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build it, unless the wheel is linked to a checkout."""
        platform = _asked()
        if not platform or version == "editable":
            return
        building = _building(Path(self.root))
        self._folder = tempfile.TemporaryDirectory(prefix="overlong-wheel-")
        core = Path(self._folder.name, building.shipped().name)
        if platform == HERE:
            building.build(core, "-s")
            platform = re.sub(r"\W", "_", sysconfig.get_platform())
        else:
            building.compiled([*building.ZIG, "-target", PLATFORMS[platform], "-s"], core)
        build_data["force_include"][str(core)] = f"overlong/reference/core/{core.name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what the wheel has."""
        if _asked() and version != "editable":
            self._folder.cleanup()


def _asked() -> str:
    """The platform, or nothing.

    Raises:
        ValueError: it is unknown.
    """
    platform = os.environ.get("OVERLONG_WHEEL", "")
    if platform not in {"", HERE, *PLATFORMS}:
        raise ValueError(f"OVERLONG_WHEEL={platform}: it is none of {', '.join((HERE, *PLATFORMS))}")
    return platform


def _building(root: Path) -> ModuleType:
    """The module that builds the core. Importing it by its name would need what overlong needs."""
    spec = importlib.util.spec_from_file_location("building", root / _CORE / "building.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
