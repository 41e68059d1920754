"""The shared libraries and fonts that QtWebEngine and Playwright need, and their Debian packages.

The wheels contain Qt itself; other linked libraries must be on the system.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from core.schema.errors import WorldError
from core.setup.commands import answer_of

FONT = "a font"
"""The name of a missing font; all other names are those of shared libraries."""
FONT_PACKAGE = "fonts-dejavu-core"
PACKAGES = tuple(
    """
    libasound2 libatomic1 libbrotli1 libdbus-1-3 libegl1 libexpat1 libfontconfig1 libfreetype6 libgbm1 libgl1
    libglib2.0-0 libgssapi-krb5-2 libnspr4 libnss3 libstdc++6 libudev1 libwayland-client0 libwayland-cursor0
    libx11-6 libx11-xcb1 libxcb-cursor0 libxcb-dri3-0 libxcb-glx0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1
    libxcb-randr0 libxcb-render-util0 libxcb-render0 libxcb-shape0 libxcb-shm0 libxcb-sync1 libxcb-util1
    libxcb-xfixes0 libxcb-xkb1 libxcb1 libxcomposite1 libxdamage1 libxext6 libxfixes3 libxkbcommon-x11-0
    libxkbcommon0 libxkbfile1 libxrandr2 libxtst6 libzstd1 zlib1g
    """.split()
)
"""The Debian packages of what the files in `_PROBES` link, without what every Debian has."""
RENAMED = {"libasound2": "libasound2t64", "libglib2.0-0": "libglib2.0-0t64"}
"""Their names on systems with 64-bit time."""

_QT_MODULES = (
    "QtWebEngineWidgets",
    "QtWebEngineCore",
    "QtSvg",
    "QtSvgWidgets",
    "QtPrintSupport",
    "QtOpenGLWidgets",
    "QtTest",
)
_QT_PLUGINS = (
    "platforms/libqxcb",
    "platforms/libqwayland",
    "platforms/libqoffscreen",
    "xcbglintegrations/libqxcb-egl-integration",
    "xcbglintegrations/libqxcb-glx-integration",
    "tls/libqopensslbackend",
    "imageformats/libqsvg",
    "imageformats/libqjpeg",
    "imageformats/libqwebp",
    "iconengines/libqsvgicon",
)
_PROBES = (
    *(f"PySide6/{name}.abi3.so" for name in _QT_MODULES),
    "PySide6/Qt/libexec/QtWebEngineProcess",
    *(f"PySide6/Qt/plugins/{name}.so" for name in _QT_PLUGINS),
    "playwright/driver/node",
)
_FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts")
_FONT_ENDINGS = (".ttf", ".otf", ".ttc", ".pfb")


def missing_libraries(site_packages: Path) -> tuple[str, ...]:
    """Return what the installed packages link and `ldd` does not find, then `FONT` if there is none.

    Raises WorldError. Returns nothing on systems other than Linux, whose wheels bring all.
    """
    if not sys.platform.startswith("linux"):
        return ()
    probes = [str(site_packages / probe) for probe in _PROBES if (site_packages / probe).exists()]
    if not probes:
        raise WorldError(f"PySide6 is not in {site_packages}; delete .venv and start again.")
    answer = answer_of(["ldd", *probes])
    if answer is None:
        raise WorldError("The command ldd does not run; install it (package libc-bin) and start again.")
    lines = answer.stdout.splitlines()
    names = {line.split()[0] for line in lines if line.rstrip().endswith("=> not found")}
    return (*sorted(names), *(() if has_fonts() else (FONT,)))


def has_fonts(folders: Iterable[str] = _FONT_FOLDERS) -> bool:
    """Whether any font lies where fontconfig looks; without one, pages show no text."""
    return any(
        name.lower().endswith(_FONT_ENDINGS)
        for folder in folders
        for _, _, names in os.walk(os.path.expanduser(folder))
        for name in names
    )
