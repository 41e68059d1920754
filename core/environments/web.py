"""The open web: any URL and instruction, without a judge; a person says how the run ended."""

import ipaddress
import os
import re
from urllib.parse import urlsplit

from core.environments.protocol import Ask, Environment, PageDriver
from core.schema.errors import UsageError
from core.schema.hosts import has_scheme, is_near
from core.schema.task import Episode, Task, Verdict
from core.system.paths import expanded

OPEN_TASK = "web/open"
NO_JUDGE = Verdict(judge="none", reason="This task has no judge; a person can say how it ended.")

_SCHEMES = ("http", "https", "file", "about", "data")
_EXAMPLES = "use one such as https://example.org, example.org/search or localhost:8000"


class OpenWeb(Environment):
    """One task that is filled in with a URL and an instruction."""

    id = "web"
    title = "The open web"

    def tasks(self) -> tuple[Task, ...]:
        return (
            Task(
                id=OPEN_TASK,
                environment=self.id,
                instruction="Any instruction, at any URL.",
                tags=("open",),
                judged=False,
            ),
        )

    def task(self, url: str, instruction: str) -> Task:
        """Return the task for this URL and instruction; raises UsageError if one of them says nothing."""
        wanted = " ".join(instruction.split())
        if not wanted:
            raise UsageError(f"{OPEN_TASK} needs an instruction: say what to do at {url or 'the URL'}.")
        return self.tasks()[0].replace(start_url=full_url(url), instruction=wanted)

    async def open(self, task: Task, seed: int, page: PageDriver) -> Episode:
        if not task.start_url:
            raise UsageError(f"{OPEN_TASK} needs a URL to start at; {_EXAMPLES}.")
        await page.goto(task.start_url)
        return Episode(task=task, seed=seed, instruction=task.instruction, start_url=await page.url())

    async def judge(self, episode: Episode, page: PageDriver, answer: str, ask: Ask | None = None) -> Verdict:
        return NO_JUDGE


def full_url(text: str) -> str:
    """Return `text` as a URL that a browser opens; raises UsageError if it cannot be one.

    A missing scheme becomes http for this machine and private networks and
    https for all else; the path of an existing file becomes a file URL.
    """
    given = text.strip()
    if not given:
        raise UsageError(f"A URL is missing; {_EXAMPLES}.")
    if given.startswith(("/", "~/")) and not given.startswith("//"):
        return _file_url(given)
    url = with_scheme(given)
    scheme = url.split(":", 1)[0].lower()
    if scheme not in _SCHEMES:
        raise UsageError(f'"{given}" cannot be opened: {scheme} is not a kind of URL for pages; {_EXAMPLES}.')
    if scheme in ("http", "https"):
        _check_host(given, url, scheme_given=url == given)
    elif re.search(r"\s", url) and scheme != "data":
        raise UsageError(f'"{given}" is not a URL: it has a space in it; {_EXAMPLES}.')
    return url


def with_scheme(text: str) -> str:
    """Return an address with a scheme: where it is missing, http for this machine and private networks, else https."""
    if text.startswith("//"):
        return f"https:{text}"
    if has_scheme(text):
        return text
    host = re.split(r"[/?#]", text, maxsplit=1)[0]
    scheme = "http" if is_near(re.sub(r":\d+$", "", host)) else "https"
    return f"{scheme}://{text}"


def _check_host(given: str, url: str, *, scheme_given: bool) -> None:
    if re.search(r"\s", given):
        raise UsageError(f'"{given}" is not a URL: it has a space in it; {_EXAMPLES}.')
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError as error:
        raise UsageError(f'"{given}" is not a URL: its host or port is not valid; {_EXAMPLES}.') from error
    if ":" in host:
        return
    labels = host.rstrip(".").split(".")
    if not all(re.fullmatch(r"(?!-)[\w-]{1,63}(?<!-)", label) for label in labels):
        raise UsageError(f'"{given}" is not a URL: it has no host; {_EXAMPLES}.')
    if len(labels) == 1 and not scheme_given and host.lower() != "localhost":
        raise UsageError(f'"{given}" is not a URL: "{host}" alone is not a host on the web; {_EXAMPLES}.')
    if labels[-1].isdigit():
        try:
            ipaddress.ip_address(host)
        except ValueError as error:
            raise UsageError(f'"{given}" is not a URL: {host} is not an address; {_EXAMPLES}.') from error


def _file_url(given: str) -> str:
    path = expanded(given)
    if not os.path.isfile(path):
        raise UsageError(f'"{given}" is not a URL, and there is no such file; {_EXAMPLES}.')
    return path.resolve().as_uri()
