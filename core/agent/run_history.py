"""The earlier steps of a run, read from the trace: where it can go back to."""

from pydantic import ValidationError

from core.agent.saved_state import SavedAgent
from core.browser.checkpoints.checkpoint import Checkpoint
from core.browser.checkpoints.page_state import PageState
from core.browser.recorded.exchange import Exchange
from core.schema.element_identity import RecordedInput
from core.schema.errors import TraceError
from core.schema.step import Acted, Observed, Recalled, record_of
from core.trace.store import TraceStore


class RunHistory:
    """The steps of one run, with those of the runs it branched from."""

    def __init__(self, store: TraceStore, run: int) -> None:
        self._store = store
        self._run = run

    def agent(self, step: int) -> SavedAgent:
        """Return the agent as the step found it; raises TraceError where that was not kept, or is damaged."""
        data = self._store.agent(self._run, step)
        try:
            return SavedAgent.model_validate_json(data)
        except ValidationError as error:
            raise TraceError(
                f"What the agent was at step {step} of run {self._run} cannot be read; "
                "go back to another step."
            ) from error

    def checkpoint(self, step: int) -> Checkpoint:
        """Return what brings the browser back to a step; raises TraceError where the step never saw its page."""
        saved = self.agent(step)
        observed = self._observed(step)
        document = observed.observation.document
        loaded = saved.loaded_at.get(document, step)
        nearest = None
        if loaded < step:
            nearest = self._plain(loaded)
        return self._plain(step).replace(nearest=nearest, exchanges=self.exchanges(saved, step))

    def recalled(self, step: int) -> Recalled | None:
        """Return the exemplars that a step recalled."""
        records = self._store.step(self._run, step).records
        return record_of(Recalled, records)

    def exchanges(self, saved: SavedAgent, step: int) -> tuple[Exchange, ...]:
        """Return what servers answered on the way to a step's page: while its task was opened, and to what was done."""
        # What an action set off may have been asked for when the step after it was under way.
        steps = {step, *saved.done_at, *(done + 1 for done in saved.done_at)}
        first = min(saved.done_at, default=step)
        recorded = self._store.network(self._run)
        opened = max((one.step for one in recorded if one.opening and one.step < first), default=-1)
        return tuple(
            one
            for one in recorded
            if (one.step == opened if one.opening else one.step > opened and one.step in steps)
        )

    def body(self, name: str) -> bytes:
        """Return the content of an answer; raises TraceError where it is not there."""
        return self._store.blob(name)

    def inputs(self, saved: SavedAgent) -> list[RecordedInput]:
        """Return what was done in the page before a step, in order."""
        found: list[RecordedInput] = []
        for step in saved.done_at:
            records = self._store.step(self._run, step).records
            found += next((one.inputs for one in records if isinstance(one, Acted)), ())
        return found

    def _plain(self, step: int) -> Checkpoint:
        data = self._store.page(self._run, step)
        try:
            page = PageState.model_validate_json(data) if data else PageState()
        except ValidationError as error:
            raise TraceError(
                f"What the browser kept at step {step} of run {self._run} cannot be read."
            ) from error
        return Checkpoint(
            step=step,
            observation=self._observed(step).observation,
            inputs=tuple(self.inputs(self.agent(step))),
            page=page,
        )

    def _observed(self, step: int) -> Observed:
        records = self._store.step(self._run, step).records
        observed = record_of(Observed, records)
        if observed is None:
            raise TraceError(f"Step {step} of run {self._run} never saw its page; go back to an earlier one.")
        return observed
