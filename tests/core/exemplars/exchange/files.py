"""Small files in the forms of other programs, made up here."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from core.exemplars.exchange.plan import PlannedEntry, ReadOptions
from core.exemplars.exchange.reader import read_exemplars_of

PAGE = (
    '<div id="wrap" data-wob_ref="2">\n  <div id="query">Press <span class="bold">Go</span> &amp; wait</div>\n'
    '  <button data-wob_ref="3">Go</button>\n</div>'
)
CLICK_GO = "agent.click_xpath(\"//button[text()='Go']\")"


def saved(folder: Path, value: object, name: str = "file.json") -> Path:
    """Write a JSON document, or lines where it is called so, and return its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if name.endswith(".jsonl"):
        assert isinstance(value, (list, tuple))
        text = "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in value)
    else:
        text = json.dumps(value)
    path.write_text(text, encoding="utf-8", errors="replace")
    return path


class Read(NamedTuple):
    """What was read of files."""

    formats: tuple[str, ...]
    candidates: tuple[PlannedEntry, ...]
    left_out: tuple[PlannedEntry, ...]
    faulty: tuple[PlannedEntry, ...]


def read(*paths: Path, **options: Any) -> Read:
    plan = read_exemplars_of(paths, ReadOptions(**options))
    return Read(plan.formats, plan.those("new"), plan.those("left out"), plan.those("faulty"))


def as_text(reading: Read) -> str:
    """Return what was read as lines, cut: exemplars with `+`, what is left out with `-` and faults with `!`."""
    lines = []
    for entry in reading.candidates:
        exemplar = entry.exemplar
        assert exemplar is not None
        lines.append(f"+ {entry.position} ({exemplar.id}, {exemplar.family}): {exemplar.task}")
        lines += [f"    {action}" for step in exemplar.steps for action in step.actions]
        lines += [f"    # {remark}" for remark in entry.remarks]
    lines += [f"- {entry.position}: {entry.why}" for entry in reading.left_out]
    lines += [f"! {entry.position}: {entry.why}" for entry in reading.faulty]
    return "\n".join(line[:100] for line in lines)


def demo(task: str = "", **more: object) -> dict[str, object]:
    return {"state": PAGE, "act": CLICK_GO, **({"task": task} if task else {}), **more}


def visited(
    page: str, asin: str = "", *, options: dict[str, str] | None = None, **more: Any
) -> dict[str, Any]:
    """Return a line of a WebShop session."""
    content: dict[str, Any] = {
        "keywords": "['red', \"men's\", 'mug']",
        "page": "1",
        "asin": asin,
        "options": options or {},
    }
    address = f"http://shop.example:3000/{page}/s_1"
    if page == "index":
        content, address = {}, "http://shop.example:3000/s_1"
    elif page == "search_results":
        content = {"keywords": ["red", "men's", "mug"], "search_result_asins": ["B01", "B02"], "page": 1}
    line: dict[str, Any] = {"page": page, "url": address, "goal": {"instruction_text": "find me a red mug"}}
    if content:
        line["content"] = content | more.pop("content", {})
    return {**line, **more}


SESSION = (
    visited("index"),
    visited("search_results"),
    visited("search_results", content={"page": 2}),
    visited("search_results"),
    visited("item_page", "B02"),
    visited("item_page", "B02", options={"color": "red"}),
    visited(
        "item_sub_page",
        "B02",
        options={"color": "red"},
        url="http://shop.example:3000/item_sub_page/s_1/B02/%5B%5D/1/Features/%7B%7D",
    ),
    visited("item_page", "B02", options={"color": "red"}),
    visited("done", "B02", options={"color": "red"}, reward=1.0),
)


def record(**more: object) -> dict[str, Any]:
    """Return a record of Mind2Web."""
    button = {
        "tag": "button",
        "is_original_target": True,
        "backend_node_id": "12",
        "attributes": json.dumps({"backend_node_id": "12"}),
    }
    page = (
        '<html backend_node_id="1"><body backend_node_id="2"><input backend_node_id="11" placeholder="City">'
        '<button backend_node_id="12"><text backend_node_id="13">Find &amp; go</text></button></body></html>'
    )
    return {
        "annotation_id": "ab-12",
        "website": "trips",
        "domain": "Travel",
        "subdomain": "Hotel",
        "confirmed_task": "Find a hotel in Oslo",
        "action_reprs": ["[textbox]  City -> TYPE: Oslo", "[button]  Find & go -> CLICK"],
        "actions": [
            {
                "action_uid": "u1",
                "raw_html": "",
                "cleaned_html": page,
                "operation": {"op": "TYPE", "original_op": "TYPE", "value": "Oslo"},
                "pos_candidates": [{**button, "tag": "input", "backend_node_id": "11"}],
                "neg_candidates": [],
            },
            {
                "action_uid": "u2",
                "raw_html": "",
                "cleaned_html": page,
                "operation": {"op": "CLICK", "original_op": "CLICK", "value": ""},
                "pos_candidates": [button],
                "neg_candidates": [],
            },
        ],
        **more,
    }


def gym_step(number: int, action: str | None, **obs: object) -> dict[str, Any]:
    """Return a step of BrowserGym as `save_json` writes it."""
    return {
        "step": number,
        "obs": {
            "goal": "Send the form",
            "axtree_txt": "[a1] textbox 'Name'\n[a2] button 'Send'\n[7] link 'Help'",
            "last_action_error": "",
            **obs,
        },
        "reward": 0 if action else 1,
        "action": action,
        "agent_info": {"think": "Next."},
    }


POLICY = {
    "instruction": "You may do:\n`click [id]`: Clicks it.\n`type [id] [content] [press_enter_after=0|1]`: Types.\n"
    "find_it [query]: Finds what is asked for.\n\nPlease follow these instructions:\n1. Look.\n2. Stop.\n",
    "input": "",
    "response": "",
    "examples": [],
}


def example(
    objective: str, before: str, action: str, observation: str = "<button id=7 val=Go />"
) -> dict[str, str]:
    return {
        "input": f"\nOBJECTIVE:\n{objective}\nOBSERVATION:\n{observation}\nURL:\nPREVIOUS ACTIONS:\n{before}\n",
        "response": f"\nREASON:\nIt is there.\nACTION:\n{action}\n",
    }
