from core.exemplars.index import Among, ExemplarIndex, Near
from core.schema.exemplar import Exemplar, ExemplarReview, ExemplarStep

TASKS = {
    "click-button": ["Click on the Ok button.", "Click on the Cancel button.", "Click on the No button."],
    "enter-text": ['Enter "Ada" into the text field.', 'Enter "Bob" into the text field and submit.'],
    "book-flight": ["Book the cheapest flight from Oslo to Rome.", "Book the shortest flight to Paris."],
}


def exemplar(family: str, number: int, **more: object) -> Exemplar:
    return Exemplar.model_validate(
        {
            "id": f"{family}-{number}",
            "family": family,
            "task": TASKS[family][number],
            "steps": (ExemplarStep(observation=f'[1] button "{family}"', actions=("click [1]",)),),
            **more,
        }
    )


RETIRED = ExemplarReview(status="retired")
ALL = tuple(exemplar(family, number) for family, tasks in TASKS.items() for number in range(len(tasks)))


async def search(index: ExemplarIndex, text: str, count: int, *, family: str = "") -> tuple[Near, ...]:
    """Return the exemplars of an index that are nearest to a text."""
    return index.nearest(await index.vector(text), count, Among(family))
