"""BrowserGym's own step on the same pages, as shipped and with its wait at zero; needs nothing of Backstep.

    python tests/benchmarks/gym_steps.py MINIWOB_URL ROUNDS PAGE… [--chromium PATH]

Runs in an environment of its own, since BrowserGym pins another Playwright;
prints JSON: page → {"shipped": ms, "without waits": ms, "noop": ms, "reset": ms}, medians of a click, and
without waits of a step in which nothing is done and of opening a task.
"""

import json
import os
import statistics
import sys
import time


def use_chromium(path: str) -> None:
    """Let both browsers that BrowserGym starts be the installed one: the second takes no options."""
    from playwright.sync_api import BrowserType

    launch = BrowserType.launch

    def with_path(self: BrowserType, **options: object) -> object:
        arguments = [*options.pop("args", []), *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        return launch(self, executable_path=path, args=arguments, **options)

    BrowserType.launch = with_path


def median_step(page: str, rounds: int, action: str = "mouse_click(5, 5)", **options: object) -> float:
    """Return the median milliseconds of an action, observation included.

    Unless told it is a click that hits nothing; an empty one is opening the task.
    """
    import gymnasium

    environment = gymnasium.make(f"browsergym/miniwob.{page}", headless=True, **options)
    took = []
    for seed in range(rounds):
        started = time.perf_counter()
        environment.reset(seed=seed)
        if action:
            environment.step("noop(0)")
            started = time.perf_counter()
            environment.step(action)
        took.append((time.perf_counter() - started) * 1000)
    environment.close()
    return statistics.median(took)


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
    words = begin()
    from browsergym.core.action.highlevel import HighLevelActionSet

    mapping = HighLevelActionSet(subsets=["coord", "chat", "nav"]).to_python_code
    results = {}
    for page in words[1:]:
        results[page] = {
            "shipped": median_step(page, int(words[0]), action_mapping=mapping),
            "without waits": median_step(
                page, int(words[0]), action_mapping=mapping, pre_observation_delay=0.0
            ),
            "noop": median_step(
                page, int(words[0]), "noop(0)", action_mapping=mapping, pre_observation_delay=0.0
            ),
            "reset": median_step(page, int(words[0]), "", action_mapping=mapping, pre_observation_delay=0.0),
        }
    print(json.dumps(results))


if __name__ == "__main__":
    main()
