"""Which run is followed as the one that was asked for."""

from types import SimpleNamespace
from typing import Any

import pytest

from core.debugger.fix.rerun import Reruns
from core.debugger.fix.views import Rerun

ROW: Any = SimpleNamespace(
    environment="shop", task="shop/a", seed=0, preset="plain", profile=None, start_url="", instruction=""
)


def view(run: int | None, mode: str = "running", *, task: str = "shop/a", seed: int = 0) -> Any:
    return SimpleNamespace(run=run, mode=mode, task=task, seed=seed, step=1, message="")


@pytest.fixture
def reruns():
    """Runs of a session in which run 5 is the current one."""

    def queue(work) -> None:
        with pytest.raises(StopIteration):
            work.send(None)

    ignored = SimpleNamespace(set_preset=str, set_llm=str, run=str, step=str, open=lambda *a, **k: None)
    session: Any = SimpleNamespace(
        services=lambda: SimpleNamespace(store=None),
        session=view(5),
        agent=ignored,
        tasks=ignored,
        run_commands=ignored,
        queue=queue,
    )
    return Reruns(session)


def test_the_task_that_was_asked_for_afresh_is_followed(reruns):
    reruns.afresh(ROW, "gpt")
    for shown in (view(5), view(None, "opening"), view(9, "opening")):
        assert reruns.followed(None, shown) == (None, "")
    assert reruns.followed(None, view(9)) == (Rerun(run=9, fresh=True, steps=1), "")


@pytest.mark.parametrize("other", [view(9, task="shop/b"), view(9, seed=1)])
def test_a_run_of_another_task_or_seed_is_not_the_one_that_was_asked_for(reruns, other):
    reruns.afresh(ROW, "gpt")
    assert reruns.followed(None, view(None, "failed")) == (None, "")
    assert reruns.followed(None, other) == (None, "")
    assert reruns.followed(None, view(10)) == (None, "")


def test_a_task_afresh_is_not_awaited_any_more_once_a_run_goes_on_from_a_step(reruns):
    reruns.afresh(ROW, "gpt")
    reruns.forget()
    reruns.go_on()
    rerun, _ = reruns.followed(Rerun(run=9, step=3), view(9))
    assert (rerun.run, rerun.step, rerun.fresh) == (9, 3, False)
