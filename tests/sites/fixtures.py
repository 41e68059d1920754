"""Where the sites are, for tests: each is started when it is first asked for, once for all tests of a process."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.core.browser.site import Site as Loopback
from tests.packages import CannotInstall
from tests.sites.checking import Site
from tests.sites.serving import Addresses, default_folder


@pytest.fixture(scope="session")
def addresses(site: Loopback, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Site], str]]:
    """Give the address of a site, or skip the test where it cannot be installed."""
    with Addresses(site, default_folder(), tmp_path_factory.mktemp("sites")) as found:

        def of(wanted: Site) -> str:
            try:
                return wanted.address(found)
            except CannotInstall as error:
                pytest.skip(str(error))

        yield of


@pytest.fixture(scope="session")
def note(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file to upload."""
    file = tmp_path_factory.mktemp("files") / "note.txt"
    file.write_text("a note", encoding="utf-8")
    return file
