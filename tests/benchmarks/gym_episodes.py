"""Episodes of BrowserGym with a policy that clicks anything, one after the other; needs nothing of Backstep.

    python tests/benchmarks/gym_episodes.py MINIWOB_URL SECONDS STEPS TASK:SEED… [--chromium PATH]

Runs in an environment of its own, since BrowserGym pins another Playwright. The
policy answers after SECONDS; an episode has at most STEPS steps. BrowserGym's
waits before an observation and before each call of Playwright are zero. Prints a line of JSON for each episode: when
it began and ended, in seconds since the epoch, and how many steps it had.
"""

import json
import random
import time

from gym_steps import WITHOUT_WAITS, begin


def episode(task: str, seed: int, seconds: float, steps: int) -> dict[str, float]:
    """Play one episode in an environment of its own and say what it took."""
    import gymnasium

    began = time.time()
    environment = gymnasium.make(f"browsergym/miniwob.{task}", headless=True, **WITHOUT_WAITS)
    seen, _ = environment.reset(seed=seed)
    draw = random.Random(f"{task} {seed}")
    done = 0
    ended = False
    while done < steps and not ended:
        time.sleep(seconds)  # So long the LLM would take.
        elements = seen["extra_element_properties"]
        targets = [name for name, one in elements.items() if one.get("clickable")] or list(elements)
        seen, _, terminated, truncated, _ = environment.step(f"click({draw.choice(targets)!r})")
        ended = terminated or truncated
        done += 1
    environment.close()
    return {"began": began, "ended": time.time(), "steps": done}


def main() -> None:
    words = begin()
    for word in words[2:]:
        task, _, seed = word.partition(":")
        print(json.dumps(episode(task, int(seed), float(words[0]), int(words[1]))), flush=True)


if __name__ == "__main__":
    main()
