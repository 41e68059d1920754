"""What can be changed at a step of a run, and the prompt that would result."""

from core.agent.llm_calls import Asker
from core.agent.resources import AgentResources
from core.agent.stored_step import StoredPrompt, prompt_at
from core.debugger.editing.files import AgentFiles
from core.debugger.editing.views import EditText
from core.debugger.editing.words import words_of_actions, words_of_file
from core.debugger.fix.places import places_of
from core.debugger.fix.views import Clue, FixPlace
from core.debugger.interventions.held_texts import as_text
from core.debugger.services import Services
from core.schema.action_text import parse_action
from core.schema.changes import Changes
from core.schema.errors import ActionSyntaxError, BackstepError, UsageError
from core.schema.step import Reviewed, record_of

_SAME = "This text does not change the prompt of the step:\n\n"


class StepTexts:
    """The texts that decide one step, as they hold and with a change that is not saved."""

    def __init__(self, services: Services, run: int, step: int, llm: str) -> None:
        """`llm` is the one that would answer."""
        self._services = services
        self._store = services.store
        self._run = run
        self._step = step
        self._llm = llm

    @property
    def files(self) -> AgentFiles:
        return AgentFiles(self._services.config)

    def places(self, clue: Clue | None) -> tuple[FixPlace, ...]:
        """Return what can be changed at the step, that of the clue first.

        Raises UsageError, DataError and TraceError.
        """
        store, run, step = self._store, self._run, self._step
        changes = store.changes(run)
        resources = self._services.resources_for(changes)
        return places_of(
            store.step(run, step).records,
            store.recalled(run, step),
            clue,
            preset=resources.presets.get(store.run(run).preset),
            resources=resources,
            files=self.files,
            changes=changes,
        )

    def text_of(self, place: FixPlace) -> str:
        """Return the text as it holds; raises UsageError, DataError and TraceError."""
        store, run, step = self._store, self._run, self._step
        if place.kind == "action":
            reviewed = record_of(Reviewed, store.step(run, step).records)
            return str(reviewed.action) if reviewed is not None and reviewed.action is not None else ""
        if place.kind == "exemplar":
            return ""
        if place.policy:
            return self._services.resources_for(store.changes(run)).policies.get(place.policy).text
        return self.files.read(place.name)

    def checked(self, place: FixPlace, text: str) -> tuple[EditText, str]:
        """Return a text with what is wrong in it or the prompt that would result, and the state it would be."""
        view = self._described(place, text)
        try:
            was = self._prompt(self._run_resources())
            if place.kind == "action":
                view = view.replace(words=words_of_actions(was.actions))
            now = self._prompt_with(place, text)
        except BackstepError as error:
            return view.wrong(error), ""
        same = _SAME if now.messages == was.messages and place.kind != "action" else ""
        return view.replace(preview=same + as_text(now.messages)), _state_words(was, now)

    def _described(self, place: FixPlace, text: str) -> EditText:
        match place.kind:
            case "action":
                hint = "Write it as in the Action panel, such as click [12]. This changes only the step, no file."
                return EditText(name=place.name, title=place.title, hint=hint, text=text)
            case "exemplar":
                hint = "Run again without this exemplar, retire it (Alt+K), or edit it in the library."
                return EditText(name=place.name, title=place.title, hint=hint, text=text)
            case _ if place.policy:
                note = (
                    f"This run has its own text of the policy {place.policy}. Only the new run gets this one."
                )
                words = words_of_file("policies", text, self._run_resources())
                view = EditText(name=place.name, title=place.title, language="markdown", text=text)
                return view.replace(note=note, words=words)
        return self.files.described(place.name, text, self._run_resources())

    def _prompt_with(self, place: FixPlace, text: str) -> StoredPrompt:
        """Return the prompt of the step with this text in place; raises what is wrong in it."""
        base = self._run_resources()
        match place.kind:
            case "action":
                _check_action(text)
                return self._prompt(base)
            case "exemplar":
                return self._prompt(base, without=place.name)
            case _ if place.policy:
                return self._prompt(self._services.resources_for(self._changes(place, text)))
        with self.files.with_draft(place.name, text, base) as resources:
            return self._prompt(resources)

    def _run_resources(self) -> AgentResources:
        return self._services.resources_for(self._store.changes(self._run))

    def _changes(self, place: FixPlace, text: str) -> Changes:
        """Return what holds on a branch that this text is tried on."""
        earlier = self._store.changes(self._run)
        return Changes(policy_texts={place.policy: text}).over(earlier)

    def _prompt(self, resources: AgentResources, *, without: str = "") -> StoredPrompt:
        services, store = self._services, self._store
        row = store.run(self._run)
        return prompt_at(
            store,
            row,
            self._step,
            services.task_of(row),
            preset=resources.presets.get(row.preset),
            resources=resources,
            asker=Asker(store, services.llms.routed(self._llm), lambda _: None),
            without=without,
        )


def _check_action(text: str) -> None:
    """Raise UsageError if a text is not an action."""
    if not text.strip():
        raise UsageError("Write the action for this step, such as click [12].")
    try:
        parse_action(text)
    except ActionSyntaxError as error:
        raise UsageError(str(error)) from error


def _state_words(was: StoredPrompt, now: StoredPrompt) -> str:
    """Return the state and the actions of the step with the text, and how they were."""
    state = f"State: {now.state}" + (f" (was {was.state})" if was.state != now.state else "")
    new = [action for action in now.actions if action not in was.actions]
    gone = [action for action in was.actions if action not in now.actions]
    changes = [f"now also {', '.join(new)}"] if new else []
    changes += [f"no longer {', '.join(gone)}"] if gone else []
    return f"{state}. Permissible: {'; '.join(changes) if changes else 'as before'}."
