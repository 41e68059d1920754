"""Solvers that are held to what an agent may do."""

from core.agent.general_space import permissible_of
from core.debugger.exemplars.scripted import Script, ScriptOf
from core.schema.action_text import parse_action
from core.schema.errors import ActionError
from core.schema.observation import Observation


def permitted(script_of: ScriptOf) -> ScriptOf:
    """Return the script, which refuses what the page's permissible actions do not allow."""

    def script(instruction: str, page: Observation) -> Script:
        looks = script_of(instruction, page)
        try:
            look = next(looks)
            while True:
                allowed = permissible_of(page)
                for text in look.actions:
                    if problem := allowed.problem(parse_action(text)):
                        raise ActionError(f"{text}: {problem}")
                page = yield look
                look = looks.send(page)
        except StopIteration:
            return
        except (LookupError, ValueError, RuntimeError) as error:  # The last is a `next` that found nothing.
            raise ActionError(f"The solver does not know this page: {error}") from error

    return script
