"""An exemplar in words, for the parts of the details that are read."""

from core.debugger.exemplars.library.views import DetailView
from core.memory.library.records import Entry
from core.schema.exemplar import Exemplar
from gui.exemplars.library.row_model import moment
from gui.widgets.formats import count
from gui.widgets.text_view import Piece


def trajectory_pieces(exemplar: Exemplar) -> tuple[Piece, ...]:
    """Return looks, contrasts, abstraction and parser, each under its heading."""
    pieces: list[Piece] = []

    def add(title: str, text: str) -> None:
        pieces.append(Piece(title, heading=len(pieces)))
        pieces.append(Piece(text))

    for number, step in enumerate(exemplar.steps, start=1):
        parts = [step.observation or "(no observation is kept)"]
        if step.thought:
            parts.append(f"Thought: {step.thought}")
        parts += [f"Action: {action}" for action in step.actions]
        add(f"Look {number} of {len(exemplar.steps)}", "\n".join(parts) + "\n")
    for number, contrast in enumerate(exemplar.contrasts, start=1):
        parts = [contrast.observation] if contrast.observation else []
        parts += [f"Tried: {contrast.tried}", f"Right: {contrast.right}"]
        parts += [f"Why: {contrast.why}"] if contrast.why else []
        add(f"Contrast {number}: what was tried, and what is right", "\n".join(parts) + "\n")
    for number, pair in enumerate(exemplar.abstraction, start=1):
        add(f"Abstraction {number}: the page", pair.state + "\n")
        add(f"Abstraction {number}: the clean observation", pair.observation + "\n")
    if exemplar.parser:
        add("Parser: Python that makes the clean observation", exemplar.parser + "\n")
    for prompt in exemplar.prompts:
        add(f"Prompt of the program it was imported from: {prompt.name}", "\n".join(prompt.texts) + "\n")
    return tuple(pieces)


def facts(view: DetailView) -> tuple[tuple[str, str], ...]:
    """Return what is known of an exemplar beside its trajectory, by name; what is empty is left out."""
    entry = view.entry
    if entry is None:
        return ()
    exemplar, provenance = entry.exemplar, entry.provenance
    state = "read only" if view.read_only else "in the archive, not recalled" if exemplar.archived else ""
    found = (
        ("Family", exemplar.family),
        ("Environment", exemplar.environment),
        ("Site", provenance.site),
        ("Origin", ", ".join(part for part in (provenance.origin, state) if part)),
        ("File", view.place),
        ("Decided by", provenance.llm),
        ("Source", exemplar.source),
        ("Tags", ", ".join(exemplar.tags)),
        ("Note", exemplar.note),
        ("Size", _size(entry)),
        ("Made", moment(entry.made)),
        ("Changed", moment(entry.changed) if entry.changed != entry.made else ""),
        ("Version", f"{entry.version} of {len(view.versions)}" if view.versions else ""),
        ("Looked up by", exemplar.metadata or "its task and first observation"),
    )
    return tuple((name, value) for name, value in found if value)


def _size(entry: Entry) -> str:
    exemplar = entry.exemplar
    parts = [
        f"about {count(entry.tokens, 'token')}",
        count(len(exemplar.steps), "look"),
        count(sum(len(step.actions) for step in exemplar.steps), "action"),
    ]
    if exemplar.contrasts:
        parts.append(count(len(exemplar.contrasts), "contrast"))
    if exemplar.abstraction:
        parts.append(count(len(exemplar.abstraction), "abstraction pair"))
    if exemplar.parser:
        parts.append("a parser")
    return ", ".join(parts)


def standing_words(view: DetailView) -> str:
    """Return where an exemplar was retrieved, summed up."""
    one = view.standing
    if not one.retrieved:
        return ""
    judged = one.successes + one.failures
    words = f"Retrieved {count(one.retrieved, 'time')}, used {count(one.used, 'time')}."
    if judged:
        words += f" Of {count(judged, 'judged run')} that used it, {one.successes} succeeded."
    shown = len(view.retrievals)
    if shown < one.retrieved:
        words += f" The last {shown} are listed."
    return words
