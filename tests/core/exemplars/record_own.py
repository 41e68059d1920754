"""Records the program's own exemplars into resources/exemplars, one file a family.

    python -m tests.core.exemplars.record_own [FAMILY …]

Every run opens the real page in an installed Chromium. A family of which one
run is no success is reported and leaves its file as it was.
"""

import asyncio
import sys

from core.browser.chromium import ChromiumHost, find_chromium
from core.browser.host import BrowserHost
from core.debugger.exemplars.scripted import exemplar_of, open_world, perform
from core.environments.registry import Environments
from core.exemplars.files import EXEMPLARS, write_exemplars
from core.schema.errors import BackstepError
from core.schema.exemplar import Exemplar
from tests.core.exemplars.parsers import parser_of
from tests.core.exemplars.solvers import SOLVERS


async def record(host: BrowserHost, environments: Environments, family: str) -> tuple[Exemplar, ...]:
    """Return the exemplars of a family, in the order of its seeds; raises BackstepError."""
    script, seeds = SOLVERS[family]
    task = environments.find(f"miniwob/{family}")
    found: list[Exemplar] = []
    async with open_world(host, environments, task) as world:
        for seed in seeds:
            recorded = await perform(world, task, seed, script)
            found.append(exemplar_of(recorded, task, seed, parser=parser_of(family)))
    return tuple(found)


async def record_all(families: list[str]) -> int:
    """Write the files of these families; returns how many could not be recorded."""
    path = find_chromium()
    if path is None:
        sys.exit("No Chromium was found: name one in BACKSTEP_CHROMIUM.")
    environments = Environments()
    failed = 0
    try:
        for family in families:
            try:
                exemplars = await record(ChromiumHost(path), environments, family)
            except BackstepError as error:
                failed += 1
                print(error, file=sys.stderr)
                continue
            write_exemplars(EXEMPLARS / f"{family}.jsonl", exemplars)
            print(f"{family}: {len(exemplars)} exemplars", flush=True)
    finally:
        await environments.close()
    return failed


if __name__ == "__main__":
    sys.exit(min(asyncio.run(record_all(sys.argv[1:] or list(SOLVERS))), 1))
