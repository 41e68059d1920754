"""Sample evaluations as the service sends them."""

from core.debugger.causes.records import Suspicion
from core.debugger.evaluations.matrix import matrix_of
from core.debugger.evaluations.records import EvaluationPlan, Variant
from core.debugger.evaluations.views import ChosenEvaluation, EvaluationItem, EvaluationsView, SuiteItem
from core.trace.records import EvaluatedRun

PLAIN = Variant(preset="plain", llm="rules")
LASER = Variant(preset="laser", llm="rules")
FOUR = (
    PLAIN,
    LASER,
    Variant(preset="step", llm="gpt-4o"),
    Variant(preset="step", llm="gpt-4o", exemplars="none"),
)
_NAMES = (
    "click-link",
    "enter-text",
    "email-inbox",
    "use-autocomplete",
    "book-flight",
    "click-tab",
    "search-engine",
)


SUITES = (SuiteItem(name="airline", title="All scenarios"), SuiteItem(name="shop", title="All goals"))


def tasks(count: int) -> tuple[str, ...]:
    """Return ids in families of five."""
    names = [*_NAMES, *(f"form-of-many-{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")]
    return tuple(f"miniwob/{names[at // 5 % len(names)]}-{at % 5 + 1}" for at in range(count))


def tries_of(plan: EvaluationPlan, *, most: int = 10**6, better: int = 0) -> tuple[EvaluatedRun, ...]:
    """Return a run of each case, at most `most`; for later tasks, more seeds fail."""
    found = []
    for number, (variant, case) in enumerate(plan.cases(), start=1):
        if number > most:
            break
        at, which = plan.tasks.index(case.task), plan.variants.index(variant)
        success = (case.seed * 7 + at * 3 + which * 5) % 20 + better >= at % 13 + 3 - which
        found.append(
            EvaluatedRun(
                variant=variant.name,
                task=case.task,
                seed=case.seed,
                time=case.time,
                attempt=2 if number % 97 == 0 else 1,
                run=number,
                outcome="error" if number % 211 == 0 else "running" if number == most else "done",
                success=None if number % 211 == 0 or number == most else success,
                reward=0.93 if success else -1.0,
                error="The browser has ended before the page answered." if number % 211 == 0 else "",
                steps=3 + number % 9,
                llm_calls=4 + number % 11,
                cost=0.0021 * (1 + number % 5) if variant.llm != "rules" else None,
                seconds=1.7 + number % 13,
                touched=number % 89 == 0,
            )
        )
    return tuple(found)


def item(
    number: int, name: str, plan: EvaluationPlan, tries: tuple[EvaluatedRun, ...], **more
) -> EvaluationItem:
    judged = [one for one in tries if one.success is not None and not one.touched]
    return EvaluationItem(
        number=number,
        name=name,
        when=1.79e9 + number * 86_000,
        total=plan.total,
        done=len([one for one in tries if one.outcome != "running"]),
        judged=len(judged),
        successes=sum(bool(one.success) for one in judged),
        failed=sum(not one.success for one in judged),
        **more,
    )


SUSPICIONS = (
    Suspicion(kind="action", name="results.select_item", failed=31, passed=6, score=0.84, run=1002),
    Suspicion(kind="policy", name="search_shop", failed=20, passed=41, score=0.53, run=1004),
    Suspicion(kind="exemplar", name="buy-lamp", failed=0, passed=12, score=0.0),
)


def view_of(
    plan: EvaluationPlan,
    tries: tuple[EvaluatedRun, ...],
    *others: EvaluationItem,
    name: str = "policies",
    before: tuple[EvaluatedRun, ...] = (),
    **more,
) -> EvaluationsView:
    """Return a view of one evaluation, with `others` below it in the list; `more` are fields of its item."""
    one = item(9, name, plan, tries, **more)
    matrix = matrix_of(plan, tries, before)
    chosen = ChosenEvaluation(number=9, name=name, plan=plan, matrix=matrix, suspicions=SUSPICIONS)
    return EvaluationsView(ready=True, items=(one, *others), suites=SUITES, number=9, chosen=chosen)


TWO_PLAN = EvaluationPlan(variants=(PLAIN, LASER), tasks=tasks(14), seeds=tuple(range(10)))
TWO = tries_of(TWO_PLAN)
OTHERS = (
    item(8, "policies, first try", TWO_PLAN, TWO[:120], state="interrupted"),
    item(7, "nightly", TWO_PLAN, TWO, state="finished"),
)
FINISHED = view_of(TWO_PLAN, TWO, *OTHERS, state="finished")
BISECT_PLAN = EvaluationPlan(
    kind="bisect",
    run=14,
    variants=tuple(
        Variant(preset="step", llm="rules", title=f"from step {step}: {action}", run=14, step=step)
        for step, action in ((1, "search_shop [lamp]"), (2, "type [4] [green lamp 40]"), (5, "click [12]"))
    ),
    tasks=("shop/buy-lamp",),
    seeds=(4,),
    times=4,
)
BISECTED = view_of(
    BISECT_PLAN, tries_of(BISECT_PLAN), *OTHERS, name="bisect run 14, 2026-11-26 10:12:09", state="finished"
)
