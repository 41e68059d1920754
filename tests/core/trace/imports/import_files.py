"""Small recordings of other programs, in the shapes that these save."""

import base64
import json
from pathlib import Path
from typing import Any

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""A picture of one pixel."""


def recording(*steps: object, title: str = "Find a lamp") -> dict[str, Any]:
    """Return a recording of Chrome DevTools that begins as they all do."""
    viewport = {"width": 1000, "height": 700, "deviceScaleFactor": 1}
    return {
        "title": title,
        "steps": [
            {"type": "setViewport", **viewport, "isMobile": False, "hasTouch": False, "isLandscape": False},
            {
                "type": "navigate",
                "url": "https://shop.example/",
                "assertedEvents": [{"type": "navigation", "url": "https://shop.example/", "title": "Shop"}],
            },
            *steps,
        ],
    }


def on(*selectors: str, **more: object) -> dict[str, Any]:
    """Return a step on an element with these selectors."""
    return {"selectors": [[one] for one in selectors], "target": "main", **more}


def item(
    *actions: dict[str, Any],
    results: list[dict[str, Any]] | None = None,
    elements: list[dict[str, Any] | None] | None = None,
    begun: float = 1_700_000_000.0,
    **more: object,
) -> dict[str, Any]:
    """Return an item of a browser-use history."""
    return {
        "model_output": {
            "evaluation_previous_goal": "Success",
            "memory": "One of two done.",
            "next_goal": "Open the lamps.",
            "action": list(actions),
        },
        "result": [{"is_done": False} for _ in actions] if results is None else results,
        "state": {
            "url": "https://shop.example/",
            "title": "Shop",
            "tabs": [{"url": "https://shop.example/", "title": "Shop", "target_id": "00AAFF12"}],
            "interacted_element": elements or [None for _ in actions],
            "screenshot": base64.b64encode(PNG).decode(),
        },
        "metadata": {"step_number": 1, "step_start_time": begun, "step_end_time": begun + 2.5},
        **more,
    }


def saved(folder: Path, document: object, name: str = "lamps.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return path
