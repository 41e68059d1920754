"""An environment with one task on two pages, and a format of runs: a list of actions in Markdown."""

from urllib.parse import urlsplit

from core.environments.protocol import Ask, PageDriver
from core.environments.static_server import LoopbackHandler, LoopbackServer
from core.schema.task import Episode, Task, Verdict
from core.trace.exports.registry import ExportFormat
from core.trace.exports.steps import steps_of
from core.trace.store import TraceStore

PAGES = {
    "/": "<title>Notices</title><h1>Notices</h1><a href='/water'>Water is off on Monday</a>",
    "/water": "<title>Water</title><h1>Water is off on Monday</h1>"
    "<button onclick=\"this.textContent = document.title = 'Confirmed'\">Confirm</button>",
}


class _Handler(LoopbackHandler):
    def do_GET(self) -> None:
        page = PAGES.get(urlsplit(self.path).path)
        self.send(200 if page else 404, (page or "Not found").encode(), "text/html; charset=utf-8")


class Notices:
    """A notice board, served on this machine while a task is open."""

    id = "notices"
    title = "Notice board"
    hidden_selectors = ()

    def __init__(self) -> None:
        self._server = LoopbackServer(_Handler, what="the notice board")

    def tasks(self) -> tuple[Task, ...]:
        instruction = "Open the notice about water and confirm it."
        return (Task(id="notices/confirm", environment=self.id, instruction=instruction, tags=("example",)),)

    async def open(self, task: Task, seed: int, page: PageDriver) -> Episode:
        await page.goto(self._server.origin)
        return Episode(task=task, seed=seed, instruction=task.instruction, start_url=await page.url())

    async def ended(self, page: PageDriver) -> bool:
        return False

    async def judge(self, episode: Episode, page: PageDriver, answer: str, ask: Ask | None = None) -> Verdict:
        success = await page.evaluate("document.title") == "Confirmed"
        return Verdict(
            success=success, reward=float(success), judge="page", reason="" if success else "Not confirmed."
        )

    async def close(self) -> None:
        self._server.close()


def export_markdown(store: TraceStore, run: int) -> str:
    """Return the actions of a run, which is a copy without passwords, keys and tokens."""
    row = store.run(run)
    lines = [f"# {row.task}, seed {row.seed}", ""]
    lines += [f"{step.number}. {step.row.action or 'nothing'}" for step in steps_of(store, run)]
    return "\n".join(lines) + "\n"


MARKDOWN = ExportFormat(
    name="markdown", title="Markdown list", suffix=".md", made_by="backstep_notices:export_markdown"
)
