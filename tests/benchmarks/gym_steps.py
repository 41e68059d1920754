"""BrowserGym's own step on the same pages, as shipped and without its waits; needs nothing of Backstep.

    python tests/benchmarks/gym_steps.py MINIWOB_URL ROUNDS FIRST_SEED PAGE… [--chromium PATH]

Runs in an environment of its own, since BrowserGym pins another Playwright. Prints JSON: page → way → milliseconds
of each round. The ways are a click ``as shipped``, and without waits ``click`` (of an element by its id),
``mouse_click`` (at a place), ``noop`` (a step in which nothing is done) and ``reset`` (opening the task).
"""

import json
import os
import sys
import time

WITHOUT_WAITS = {"pre_observation_delay": 0.0, "slow_mo": 0}
"""The tasks of MiniWoB++ ask for 100 ms before each call of Playwright, unless `slow_mo` says otherwise."""
MOUSE = "mouse_click(5, 5)"
WAYS: dict[str, tuple[str, dict[str, float]]] = {
    "as shipped": (MOUSE, {}),
    "click": ("click", WITHOUT_WAITS),
    "mouse_click": (MOUSE, WITHOUT_WAITS),
    "noop": ("noop(0)", WITHOUT_WAITS),
    "reset": ("", WITHOUT_WAITS),
}


def use_chromium(path: str) -> None:
    """Let both browsers that BrowserGym starts be the installed one: the second takes no options."""
    from playwright.sync_api import BrowserType

    launch = BrowserType.launch

    def with_path(self: BrowserType, **options: object) -> object:
        arguments = [*options.pop("args", []), *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        return launch(self, executable_path=path, args=arguments, **options)

    BrowserType.launch = with_path


def first_clickable(seen: dict[str, object]) -> str:
    """Return the id of the first element that can be clicked, or of the first one."""
    elements = seen["extra_element_properties"]
    return next((name for name, one in elements.items() if one.get("clickable")), next(iter(elements)))


def rounds_of(page: str, seeds: range, action: str, **options: object) -> list[float]:
    """Return the milliseconds of an action in each round, observation included; an empty one is opening the task."""
    import gymnasium

    environment = gymnasium.make(f"browsergym/miniwob.{page}", headless=True, **options)
    took = []
    for seed in seeds:
        started = time.perf_counter()
        seen, _ = environment.reset(seed=seed)
        if action:
            seen, *_ = environment.step("noop(0)")
            does = f"click({first_clickable(seen)!r})" if action == "click" else action
            started = time.perf_counter()
            environment.step(does)
        took.append((time.perf_counter() - started) * 1000)
    environment.close()
    return took


def begin() -> list[str]:
    """Make MiniWoB++ ready as the command line says, and return the words that follow its address."""
    words = sys.argv[1:]
    chromium = ""
    if "--chromium" in words:
        at = words.index("--chromium")
        chromium = words[at + 1]
        del words[at : at + 2]
    os.environ["MINIWOB_URL"] = words[0]
    import browsergym.miniwob  # noqa: F401 (registers the tasks)

    if chromium:
        use_chromium(chromium)
    return words[1:]


def main() -> None:
    rounds, first, *pages = begin()
    from browsergym.core.action.highlevel import HighLevelActionSet

    mapping = HighLevelActionSet(subsets=["coord", "bid", "chat", "nav"]).to_python_code
    seeds = range(int(first), int(first) + int(rounds))
    results = {
        page: {
            way: rounds_of(page, seeds, action, action_mapping=mapping, **options)
            for way, (action, options) in WAYS.items()
        }
        for page in pages
    }
    print(json.dumps(results))


if __name__ == "__main__":
    main()
