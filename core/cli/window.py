"""Makes the session of the window, without the window itself."""

from core.browser.host import BrowserHost
from core.browser.screen import Screen
from core.cli.output import put, say
from core.cli.surroundings import chromium_of
from core.cli.window_arguments import WindowArguments
from core.debugger.attach.views import AttachView
from core.debugger.services import Services, open_services, user_llms
from core.debugger.session import Session
from core.debugger.worker import Worker
from core.environments.registry import Environments
from core.schema.signal import Signal
from core.settings.settings import Settings, config_folder


def make_session(
    settings: Settings,
    embedded: BrowserHost,
    screen: Screen,
    arguments: WindowArguments,
    worker: Worker | None = None,
) -> Session:
    """Return a session that opens its services once it is started; a file of tasks that is bad is not a failure.

    Another browser than the embedded one is shown on `screen`.
    """
    hosts = {"embedded": embedded}

    def host_of(name: str) -> BrowserHost:
        wanted = name or settings.browser
        if wanted not in hosts:
            hosts[wanted] = chromium_of(settings, wanted, screen, shared=True)
        return hosts[wanted]

    async def open_it() -> Services:
        return await open_services(
            settings,
            host_of(""),
            llms=user_llms(settings),
            environments=Environments(
                task_files=arguments.task_files,
                webarena=arguments.webarena,
                remembered_task_files=settings.task_files,
                remembered_webarena=settings.webarena,
                strict=False,
            ),
            config=config_folder(),
            browsers=host_of,
        )

    return Session(open_it, worker=worker)


def print_attached(changed: Signal[AttachView]) -> None:
    """Print what of an agent does not pass through Backstep, and what to tell one that is started elsewhere."""
    before = AttachView()

    def look(view: AttachView) -> None:
        nonlocal before
        for text in view.notices[len(before.notices) :]:
            say(text)
        elsewhere = view.request is not None and not view.request.command
        if elsewhere and view.addresses not in (None, before.addresses):
            for name, value in view.addresses.variables.items():
                put(f"export {name}={value}")
        before = view

    changed.connect(look)
