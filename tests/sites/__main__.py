"""Tries all sites, and prints a table of control and site.

    python -m tests.sites [--browser chromium|embedded] [--folder FOLDER] [SITE...]

Packages that FOLDER lacks are installed there, about a gigabyte for all. The exit code is 1 where a control is not
read or used as it should be, but for what is known to go wrong.
"""

import argparse
import asyncio
import logging
import sys
import tempfile
from pathlib import Path

from core.browser.chromium import ChromiumHost, find_chromium
from core.browser.host import BrowserHost
from tests.campaigns.browsers import add_browser_flag
from tests.core.browser.browsing import Browsing
from tests.core.browser.site import Site as Loopback
from tests.packages import CannotInstall
from tests.sites.checking import Check, Site, try_control
from tests.sites.serving import Addresses, default_folder
from tests.sites.table import SITES


async def _try_all(host: BrowserHost, sites: list[Site], packages: Path, folder: Path) -> int:
    note = folder / "note.txt"
    note.write_text("a note", encoding="utf-8")
    browsing, failed = Browsing(host), 0
    await browsing.tabs.browser.start()
    try:
        with Loopback() as loopback, Addresses(loopback, packages, folder) as addresses:
            for site in sites:
                try:
                    address = await asyncio.to_thread(site.address, addresses)
                except CannotInstall as error:
                    print(f"{site.name:14}  {'all':30}  skipped: {error}", flush=True)
                    continue
                for check in site.controls:
                    wrong = await _try(browsing, site, check, address, note)
                    failed += bool(wrong) != bool(check.fault)
                    print(f"{site.name:14}  {check.control:30}  {_said(wrong, check)}", flush=True)
    finally:
        await browsing.tabs.browser.close()
    return failed


async def _try(browsing: Browsing, site: Site, check: Check, address: str, note: Path) -> str:
    await browsing.tabs.open_profile()
    try:
        return await try_control(browsing, site, check, address, note)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _said(wrong: str, check: Check) -> str:
    if check.fault:
        return f"known: {check.fault}" if wrong else f"ok, though it is said that {check.fault}"
    return wrong.partition(" in\n")[0].replace("\n", " ") or "ok"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_browser_flag(parser)
    parser.add_argument("--folder", type=Path, default=default_folder())
    parser.add_argument("names", nargs="*", metavar="SITE", help=", ".join(one.name for one in SITES))
    given = parser.parse_args()
    names = given.names or [one.name for one in SITES]
    if unknown := [name for name in names if name not in {one.name for one in SITES}]:
        parser.error(f"there is no site {unknown[0]}; there are {', '.join(one.name for one in SITES)}")
    sites = [one for one in SITES if one.name in names]
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        if given.browser == "embedded":
            from gui.live.engine import run_offscreen

            failed = run_offscreen(lambda host: _try_all(host, sites, given.folder, Path(folder)))
        elif (path := find_chromium()) is None:
            raise SystemExit(
                "No Chromium is installed here; take the embedded browser by --browser embedded."
            )
        else:
            failed = asyncio.run(_try_all(ChromiumHost(path), sites, given.folder, Path(folder)))
    print(f"{failed} not as expected" if failed else "all as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
