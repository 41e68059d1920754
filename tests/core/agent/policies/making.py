"""Policy files made by hand, and stacks in a known state."""

from pathlib import Path

from core.agent.policies.stack import SeenPage, Stack, StackLimits

GOOD = """+++
description = "Finds an order."
actions = ["click", "type"]
policies = ["find_order", "find_customer"]

[[parameters]]
name = "query"
description = "Which order."

[applies]
environments = ["desk"]
urls = ["/orders"]
+++

# Instruction

1. Open the list.
    # indented too far for a heading

```text
# Neither is this one
```

# Examples

## The list is open

### Observation

```text
[3] textbox "Search"
[4] button "Go"
```

### Reply

REASON: The field takes names.
Ada's orders are wanted, so her name goes in.
ACTION: type [3] [Ada]

## Somebody else knows the customer

### Observation
[3] textbox "Search"

### Reply
REASON: Only a phone number is given.
ACTION: find_customer [555 0142]
"""

HERE = SeenPage(url="http://desk/orders", fingerprint="a")
THERE = SeenPage(url="http://desk/order/7", fingerprint="b")
ELSEWHERE = SeenPage(url="http://desk/customers", fingerprint="c")


def write(folder: Path, id: str, text: str = "", **head: str) -> Path:
    """Write a policy file; with `head` a short one with these front matter values, in TOML."""
    path = folder / f"{id}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not text:
        values = {"description": f'"{id}"', **head}
        front = "\n".join(f"{key} = {value}" for key, value in values.items())
        text = f"+++\n{front}\n+++\n# Instruction\nDo {id}.\n"
    path.write_text(text, encoding="utf-8")
    return path


def begun(limits: StackLimits | None = None) -> Stack:
    """Return the stack of a run at its first step: the frame of ``desk/top`` on HERE."""
    return Stack(limits=limits or StackLimits()).begin("desk/top", "top", ["Do it."], step=1, page=HERE)


def pushed(
    stack: Stack, name: str = "find_order", argument: str = "Ada", *, step: int = 2, page: SeenPage = HERE
) -> Stack:
    """Return the stack with a call on top that is not refused."""
    found = stack.push(f"desk/{name}", name, [argument], step=step, page=page)
    assert isinstance(found, Stack), found
    return found
