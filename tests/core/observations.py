"""Observations made by hand, for tests that need no browser."""

from core.schema.observation import Box, Element, Observation, Option, Tab


def element(ref: int, role: str = "button", name: str = "", **more: object) -> Element:
    """Return an element, clickable unless `uses` says otherwise."""
    values: dict[str, object] = {"uses": ("click",), "box": Box(x=0, y=ref * 10, width=50, height=10)}
    return Element.model_validate({"ref": ref, "role": role, "name": name, **values, **more})


def options(*labels: str, disabled: tuple[str, ...] = ()) -> tuple[Option, ...]:
    return tuple(Option(label=label, value=label.lower(), disabled=label in disabled) for label in labels)


def observation(*elements: Element, tabs: int = 1, **more: object) -> Observation:
    shown = tuple(Tab(index=i, title=f"tab {i}", url="about:blank", current=i == 0) for i in range(tabs))
    values = {"url": "http://127.0.0.1/", "title": "a page", "viewport": (800, 600), "tabs": shown}
    return Observation.model_validate({**values, "elements": elements, **more})
