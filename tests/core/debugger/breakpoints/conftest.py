import pytest

from core.schema.action import Click, GoBack, RefTarget
from core.schema.messages import Usage
from core.schema.step import PHASES, CallRecord, Reviewed
from core.trace.store import TraceStore
from tests.core.trace.making import records, start


@pytest.fixture
def trace(tmp_path):
    """A store of its own, with nothing in it."""
    store = TraceStore.open(tmp_path / "traces.db")
    yield store
    store.close()


@pytest.fixture
def run_row(trace):
    """A run that has just begun."""
    return trace.run(trace.begin_run(start()))


@pytest.fixture
def call_record():
    return CallRecord(
        number=1,
        step=1,
        purpose="decide",
        llm="test",
        messages="",
        started=0.0,
        usage=Usage(prompt_tokens=10),
    )


@pytest.fixture
def a_step():
    """A step in which a person put going back in place of the proposed click: both actions, and its records."""
    click, back = Click(target=RefTarget(ref=1)), GoBack()
    left = [record for record in records() if record.phase in PHASES[:8]]
    left[6] = Reviewed(origin="person", action=back, proposed=click, edited=True)
    return (click, back), left
