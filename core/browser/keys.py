"""Keys in the names that browsers use, whatever names an LLM gave them."""

_KEYS = {
    "ctrl": "Control",
    "cmd": "Meta",
    "command": "Meta",
    "option": "Alt",
    "return": "Enter",
    "esc": "Escape",
    "del": "Delete",
    "space": "Space",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "pageup": "PageUp",
    "pagedown": "PageDown",
}


def chord(keys: str) -> str:
    """Return a chord in the names that browsers use: ``ctrl+a`` becomes ``Control+a``."""
    if keys in ("+", " "):
        return "Space" if keys == " " else keys
    parts = [part.strip() for part in keys.split("+")]
    named = [_KEYS.get(part.lower(), part) for part in parts]
    return "+".join(
        part[0].upper() + part[1:] if len(part) > 1 and part[0].islower() else part for part in named
    )
