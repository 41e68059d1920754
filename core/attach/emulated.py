"""Messages that the engine refuses, that crash it, or that the window handles, with their answers to the client.

One table: a message, why it is not passed on, what is done instead, and the engine that needs it. Other
messages go to the engine unchanged. Measured with QtWebEngine 6.11, Chromium 156 and Playwright 1.65.
"""

import contextlib
import re
from typing import Any

from core.attach.agent_connection import AgentConnection, Emulation, Refused
from core.browser.dialogs import DialogAnswer
from core.browser.host import Engine
from core.system.patience import within

Message = dict[str, Any]
CONTEXT = "BACKSTEP00000000000000000000000A"
"""The one browser context that an agent may make: the clean profile that its run began with."""
_ANNOUNCED_SECONDS = 20.0
"""What a busy machine may take to tell of a tab that was opened or closed; usually it is milliseconds."""
_BLANK = "about:blank"


def chrome_version(agent: str) -> str:
    """Return the version of Chrome that a user agent names, such as 140.0.7339.225, one without a window too."""
    found = re.search(r"Chrome/([\d.]+)", agent)
    return found[1] if found else ""


async def _nothing(agent: AgentConnection, message: Message) -> Message:
    return {}


async def _create_target(agent: AgentConnection, message: Message) -> Message:
    given = message.get("params", {})
    before: tuple[str, ...] = ()
    url = given.get("url") or _BLANK
    if agent.launched is None:
        tab = await agent.host.open_tab()
    else:
        before = await agent.host.tabs()
        tab = await agent.launches.open_tab(agent.launched, given.get("browserContextId", ""))
    if agent.attaches:
        if tab in before and tab not in agent.attached:
            await agent.ask("Target.attachToTarget", {"targetId": tab, "flatten": True})
        # Clients want to hear that they are attached before they are answered.
        async with within(_ANNOUNCED_SECONDS), agent.announced:
            await agent.announced.wait_for(lambda: tab in agent.attached)
    agent.name(tab)
    if url != _BLANK:
        await agent.ask_tab(tab, "Page.navigate", {"url": url})
    return {"targetId": tab}


async def _close_target(agent: AgentConnection, message: Message) -> Message:
    await _close(agent, message.get("params", {}).get("targetId") or agent.tab_of(message))
    return {"success": True}


async def _close_page(agent: AgentConnection, message: Message) -> Message:
    await _close(agent, agent.tab_of(message))
    return {}


async def _close(agent: AgentConnection, tab: str) -> None:
    launched = agent.launched
    if launched is None or launched.opened(tab):
        if tab in await agent.host.tabs():
            await agent.host.close_tab(tab)
        else:  # The host has not heard yet of what a page has just opened.
            with contextlib.suppress(Refused):
                await agent.ask("Target.closeTarget", {"targetId": tab})
    else:
        await agent.detach(tab)
        launched.give_back(tab)


async def _answer_dialog(agent: AgentConnection, message: Message) -> Message:
    given = message.get("params", {})
    answer = DialogAnswer(bool(given.get("accept")), given.get("promptText", ""))
    agent.host.events.dialogs.answer(agent.tab_of(message), agent, answer)
    return {}


async def _version(agent: AgentConnection, message: Message) -> Message:
    said = await agent.ask("Browser.getVersion")
    return {**said, "product": f"Chrome/{chrome_version(said['userAgent'])}"}


async def _activate(agent: AgentConnection, message: Message) -> Message:
    await agent.host.activate_tab(message.get("params", {}).get("targetId") or agent.tab_of(message))
    return {}


async def _list_targets(agent: AgentConnection, message: Message) -> Message:
    found = (await agent.ask("Target.getTargets", message.get("params")))["targetInfos"]
    return {"targetInfos": [agent.told(one) for one in found if not await agent.hides(one)]}


async def _create_context(agent: AgentConnection, message: Message) -> Message:
    if agent.context:
        raise Refused("Backstep gives an agent one browser context; close the other one first.")
    if agent.launched is not None and agent.launches.begins_clean():
        await _clear_cookies(agent, message)
    agent.context = CONTEXT
    return {"browserContextId": CONTEXT}


async def _drop_context(agent: AgentConnection, message: Message) -> Message:
    agent.context = ""
    if agent.launched is None:
        going = (await agent.host.tabs())[1:]
    else:
        going = tuple(tab for tab, context in agent.launched.tabs.items() if context == CONTEXT)
    for tab in going:
        await _close(agent, tab)
    # Clients take their pages for closed once they are answered.
    with contextlib.suppress(TimeoutError):
        async with within(_ANNOUNCED_SECONDS), agent.announced:
            await agent.announced.wait_for(lambda: agent.attached.isdisjoint(going))
    return {}


async def _contexts(agent: AgentConnection, message: Message) -> Message:
    return {"browserContextIds": [agent.context] if agent.context else []}


async def _window(agent: AgentConnection, message: Message) -> Message:
    width, height = agent.host.viewport
    bounds = {"left": 0, "top": 0, "width": width, "height": height, "windowState": "normal"}
    return {"windowId": 1, "bounds": bounds}


async def _cookies(agent: AgentConnection, message: Message) -> Message:
    answer = await agent.ask_tab(await agent.host.current_tab(), "Network.getAllCookies", {})
    return {"cookies": answer["cookies"]}


_COOKIE = ("name", "value", "url", "domain", "path", "secure", "httpOnly", "sameSite", "expires")


async def _set_cookies(agent: AgentConnection, message: Message) -> Message:
    cookies = message["params"].get("cookies", [])
    kept = [{name: one[name] for name in _COOKIE if one.get(name) not in (None, -1)} for one in cookies]
    await agent.ask_tab(await agent.host.current_tab(), "Network.setCookie", *kept)
    return {}


async def _clear_cookies(agent: AgentConnection, message: Message) -> Message:
    return await agent.ask_tab(await agent.host.current_tab(), "Network.clearBrowserCookies", {})


async def _scroll(agent: AgentConnection, message: Message) -> Message:
    given = message["params"]
    wheel = {
        "type": "mouseWheel",
        "x": given["x"],
        "y": given["y"],
        "deltaX": -given.get("xDistance", 0),
        "deltaY": -given.get("yDistance", 0),
    }
    await agent.ask("Input.dispatchMouseEvent", wheel, message.get("sessionId", ""))
    return {}


async def _tap(agent: AgentConnection, message: Message) -> Message:
    place = {"x": message["params"]["x"], "y": message["params"]["y"], "button": "left", "clickCount": 1}
    for kind in ("mousePressed", "mouseReleased"):
        await agent.ask("Input.dispatchMouseEvent", {"type": kind, **place}, message.get("sessionId", ""))
    return {}


async def _refuse_gesture(agent: AgentConnection, message: Message) -> Message:
    raise Refused("The embedded browser crashes at this gesture; use the mouse or the wheel.")


_EVERYWHERE: dict[str, Emulation] = {
    # Pages that are no tabs of the window are none of the agent's.
    "Target.getTargets": _list_targets,
    # Tabs are the window's to open, close and show.
    "Target.createTarget": _create_target,
    "Target.closeTarget": _close_target,
    "Page.close": _close_page,
    "Target.activateTarget": _activate,
    "Page.bringToFront": _activate,
    # An agent has the clean profile that its run began with, and the engine has other ones.
    "Target.createBrowserContext": _create_context,
    "Target.disposeBrowserContext": _drop_context,
    "Target.getBrowserContexts": _contexts,
    "Storage.getCookies": _cookies,
    "Storage.setCookies": _set_cookies,
    "Storage.clearCookies": _clear_cookies,
    # The window refuses these, and tells of them.
    "Browser.setDownloadBehavior": _nothing,
    "Browser.grantPermissions": _nothing,
    "Browser.setPermission": _nothing,
    "Browser.resetPermissions": _nothing,
    # The browser is the window's; one that was launched ends by itself.
    "Browser.close": _nothing,
    # The window answers, as the agent does.
    "Page.handleJavaScriptDialog": _answer_dialog,
    # A crashed page is no use to anybody.
    "Page.crash": _nothing,
}
_IN_QT: dict[str, Emulation] = {
    # The engine names our program in place of Chrome.
    "Browser.getVersion": _version,
    # The engine has no such commands.
    "Browser.getWindowForTarget": _window,
    "Browser.setWindowBounds": _nothing,
    # The page keeps the size that it is shown in: a larger one would be cut off.
    "Emulation.setDeviceMetricsOverride": _nothing,
    # The engine ends at these (exit code 139).
    "Input.synthesizeScrollGesture": _scroll,
    "Input.synthesizeTapGesture": _tap,
    "Input.synthesizePinchGesture": _refuse_gesture,
}


def emulated_by(engine: Engine) -> dict[str, Emulation]:
    """Return how messages are answered in place of this engine, by their names."""
    return _EVERYWHERE | (_IN_QT if engine == "QtWebEngine" else {})
