"""The processes below this one, and what memory they take (Linux)."""

from pathlib import Path


def descendants() -> dict[str, str]:
    """Return the processes below this one, each with its command line (Linux)."""
    parents: dict[str, list[str]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        parents.setdefault(text.rsplit(")", 1)[1].split()[1], []).append(stat.parent.name)
    found: dict[str, str] = {}
    waiting = [Path("/proc/self").resolve().name]
    while waiting:
        for child in parents.get(waiting.pop(), []):
            waiting.append(child)
            try:
                found[child] = Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
    return found


def pss_mb() -> float:
    """Return the proportional memory of this process and all below it, in MB (Linux)."""
    total = 0
    for process in ("self", *descendants()):
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024
