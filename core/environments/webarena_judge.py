"""WebArena's evaluators: string_match, url_match and program_html, as published.

All of a task's evaluators must pass. Whatever needs no LLM is checked first,
so a task that has failed anyway costs no call.
"""

import asyncio
import contextlib
import html
import json
import operator
import re
import urllib.error
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from http.client import HTTPException
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlparse

from core.environments.protocol import Ask, PageDriver
from core.environments.webarena_config import (
    COMPARISON,
    OR,
    EvaluationConfig,
    ProgramHtml,
    TextChecks,
    WebArenaConfig,
    parse_call,
    site_address,
)
from core.schema.errors import ActionError, BrowserError, LLMError, UsageError, WorldError
from core.schema.task import Verdict
from core.system.patience import Limit

NOT_ACHIEVABLE = ("N/A",)
LOADED_SECONDS = 3.0
"""After opening a page its content is looked at for so long, which WebArena waits before it looks once."""
_LOOK_SECONDS = 0.25

# What parts words for NLTK's tokenizer, which the published evaluators take: 2's, 2%, (2) and 2?x have the word 2.
_BETWEEN = re.compile(r"[\s;@#$%&?!()\[\]{}<>\"]+")
_BESIDE = ".,:'`€£*…"
_ENDING = re.compile("'(s|m|d|ll|re|ve)$")


async def judge_config(
    config: WebArenaConfig,
    page: PageDriver,
    answer: str,
    ask: Ask | None,
    sites: Mapping[str, str],
    task: str,
) -> Verdict:
    """Return the verdict of all evaluators of `config`, whose placeholders are replaced already."""
    kinds = config.eval.eval_types
    failure: str | None = None
    contents: list[str] = []
    if "string_match" in kinds:
        failure = plain_string_failure(config.eval, answer, visual=config.visual)
    if failure is None and "url_match" in kinds:
        reference, url = config.eval.reference_url or "", await page.url()
        exact = config.eval.url_note != "GOLD in PRED"
        failure = visual_url_failure(reference, url, exact) if config.visual else url_failure(reference, url)
    if failure is None and "program_html" in kinds:
        try:
            failure = await _program_failure(config, page, sites, task, contents)
        except BrowserError:
            raise
        except (ActionError, UsageError, WorldError) as error:
            return Verdict(judge="none", reason=str(error))
    if failure is not None:
        return Verdict(success=False, reward=0.0, judge="file", reason=failure)
    questions = [*(_questions(config, answer) if "string_match" in kinds else ()), *contents]
    if questions:
        verdict = await _ask_all(questions, ask)
    else:
        said = "Every check of the task's config passes."
        verdict = Verdict(success=True, reward=1.0, judge="file", reason=said)
    return verdict.replace(reason=" ".join((verdict.reason, *config.unjudged)))


def clean(text: str) -> str:
    """Return text as answers are compared: trimmed, without one pair of quotes around it, in lower case.

    As published a quote that stands alone is gone, and what stood inside the quotes is not trimmed.
    """
    text = text.strip()
    if text and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    return text.lower()


def includes(reference: str, text: str, *, whole_word: bool = False) -> bool:
    """Return whether `text` contains `reference` anywhere, even inside a word, as published.

    With `whole_word` a reference of one character must be a word of its own,
    so that 0 is not found in 10; longer ones are not affected.
    """
    wanted, given = clean(reference), clean(text)
    return wanted in _words(given) if whole_word and _is_sign(wanted) else wanted in given


def _is_sign(text: str) -> bool:
    return len(text) == 1 and text.isalnum()


def _words(text: str) -> set[str]:
    return {_ENDING.sub("", word.strip(_BESIDE)) for word in _BETWEEN.split(text)}


def plain_string_failure(evaluation: EvaluationConfig, answer: str, *, visual: bool = False) -> str | None:
    """Return why the answer fails the checks that take no LLM, or None.

    As published the answer is cleaned twice, the reference once. `visual`
    takes the rules of VisualWebArena.
    """
    references, cleaned = evaluation.reference_answers, clean(answer)
    exact, wanted = references.exact_match, references.must_include or ()
    if exact is not None and clean(cleaned) != clean(exact):
        return f'The answer is "{answer}", not "{exact}".{_joined(exact)}'
    said = f'The answer "{answer}"'
    if visual:
        failure = _visual_failure(references, cleaned, said)
        if (
            failure is None
            and references.one_of
            and not any(clean(one) in cleaned for one in references.one_of)
        ):
            return f"{said} includes none of {_listed(references.one_of)}."
    else:
        alone = len(wanted) == 1
        missing = next((one for one in wanted if not includes(one, cleaned, whole_word=alone)), None)
        word = " as a word of its own" if alone and _is_sign(clean(wanted[0])) else ""
        failure = None if missing is None else f'{said} does not include "{missing}"{word}.{_joined(missing)}'
    if failure is None and not cleaned and any(references.fuzzy_match or ()):
        return "There is no answer."
    return failure


def _joined(reference: str) -> str:
    if OR not in reference:
        return ""
    return " The task's file joins alternatives with |OR|, which string_match does not part, as published."


def _listed(texts: Sequence[str]) -> str:
    return " or ".join(f'"{text}"' for text in texts)


def _visual_failure(texts: TextChecks, found: str, said: str) -> str | None:
    """Return why a text fails by VisualWebArena's rules: a word must be one of its own, alternatives are parted."""

    def has(one: str) -> bool:
        return clean(one) in _words(clean(found)) if _is_word(one) else includes(one, found)

    for wanted in texts.must_include or ():
        parts = wanted.split(OR)
        if not any(map(has, parts)):
            words = " as a word of its own" if any(map(_is_word, parts)) else ""
            return f"{said} does not include {_listed(parts)}{words}."
    for unwanted in texts.must_exclude or ():
        if has(unwanted):
            return f'{said} includes "{unwanted}", which it must not.'
    return _value_failure(texts.required_values, found, said)


def _is_word(text: str) -> bool:
    """Return whether NLTK's tokenizer takes the text for one word."""
    return re.fullmatch(r"[^\W_](?:[\w./-]*\w)?", clean(text)) is not None


_SIGNS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.lt,
    ">": operator.gt,
    ">=": operator.gt,
}
_TOLERANCE = 1e-8
"""As published it is added on the side that passes, so that < takes the number itself too."""


def _value_failure(required: Sequence[str], found: str, said: str) -> str | None:
    if not required:
        return None
    try:
        value = int(found.strip().replace(",", ""))
    except ValueError:
        return f"{said} is not a whole number."
    for wanted in required:
        if not any(_holds(value, one) for one in wanted.split(OR)):
            return f"{said} is not {wanted.replace(OR, ' or ')}."
    return None


def _holds(value: int, comparison: str) -> bool:
    found = COMPARISON.fullmatch(comparison)
    assert found is not None
    sign, number = found[1], float(found[2])
    if sign == "==":
        return abs(value - number) <= _TOLERANCE
    return _SIGNS[sign](value, number + (_TOLERANCE if sign[0] == "<" else -_TOLERANCE))


def visual_url_failure(reference: str, url: str, exact: bool) -> str | None:
    """Return why `url` neither is nor contains a reference, or None; as published localhost is 127.0.0.1."""
    given, *wanted = (
        one.replace("localhost", "127.0.0.1").removesuffix("/") for one in (url, *reference.split(OR))
    )
    if given in wanted if exact else any(one in given for one in wanted):
        return None
    rule = "is not exactly" if exact else "does not contain"
    return f"The URL at the end, {url}, {rule} {reference.replace(OR, ' or ')}."


def url_failure(reference: str, url: str) -> str | None:
    """Return why `url` fails against ``GOLD in PRED``, or None.

    One reference's host and path must occur in the URL's, as a plain part of
    the text. Of the queries of all references together, each key must be
    there with one of its values; further keys do not matter. A slash at the
    end of a URL does not count, one at the end of its path before a query does.
    """
    bases: list[str] = []
    wanted: dict[str, set[str]] = defaultdict(set)
    for one in reference.split(" |OR| "):
        base, query = _base_and_query(one)
        bases.append(base)
        for key, values in query.items():
            wanted[key].update(values)
    given_base, given = _base_and_query(url)
    if not any(one in given_base for one in bases):
        return f"The URL at the end is {url}, not {reference}."
    for key, allowed in wanted.items():
        if not allowed.intersection(given.get(key, [])):
            return f"The URL at the end, {url}, does not contain {key}={' or '.join(sorted(allowed))}."
    return None


def _base_and_query(url: str) -> tuple[str, dict[str, list[str]]]:
    parts = urlparse(url.rstrip("/"))
    return parts.netloc + parts.path, parse_qs(parts.query)


async def _program_failure(
    config: WebArenaConfig, page: PageDriver, sites: Mapping[str, str], task: str, questions: list[str]
) -> str | None:
    """Look at each page the config names; the tab is brought back to where the agent left it.

    What an LLM has to judge of the pages is added to `questions`. Raises ActionError where a page cannot be
    opened, and UsageError or WorldError where the shop cannot be asked.
    """
    last = await page.url()
    moved = False
    try:
        for target in config.eval.program_html:
            url = target.url.strip()
            if url.startswith("func:"):
                url = await run_call(url.removeprefix("func:"), page, sites, task)
            seconds = 0.0
            if url != "last":
                moved = True
                await page.goto(url)
                seconds = LOADED_SECONDS
            found, failure = await _content(config, target, page, sites, task, seconds)
            if failure:
                return failure
            meanings = target.required_contents.fuzzy_match or ""
            parts = meanings.split(OR) if isinstance(meanings, str) else [", ".join(meanings)]
            questions += [_answer_question(config.intent, part, found) for part in parts if part]
        return None
    finally:
        if moved:
            await _return(page, last)


async def _content(
    config: WebArenaConfig,
    target: ProgramHtml,
    page: PageDriver,
    sites: Mapping[str, str],
    task: str,
    seconds: float,
) -> tuple[str, str | None]:
    """Return what the page has, and why that is not what it must be, or None as soon as it is.

    It is looked at for so many seconds, and for all of them where an LLM will compare what it has.
    """
    limit = Limit(seconds)
    while True:
        found = html.unescape(await _located(target, page, sites, task))
        failure = contents_failure(target, found, visual=config.visual)
        done = failure is None and not target.required_contents.fuzzy_match
        if done or limit.left() <= 0:
            return found, failure
        await asyncio.sleep(_LOOK_SECONDS)


async def _return(page: PageDriver, url: str) -> None:
    """Open `url` again; if that cannot be, the verdict still counts."""
    # A page that failed to open may put its error page in place after that, and so stop the first attempt.
    for _ in range(2):
        with contextlib.suppress(ActionError):
            await page.goto(url)
            return


async def _located(target: ProgramHtml, page: PageDriver, sites: Mapping[str, str], task: str) -> str:
    locator = target.locator.strip()
    if not locator:
        return await page.html()
    if locator.startswith("func:"):
        return await run_call(locator.removeprefix("func:"), page, sites, task)
    for preparation in target.prep_actions:
        try:
            await page.evaluate(f"(() => {preparation})()", main_world=True)
        except ActionError:
            break
    code = locator.removeprefix("lambda:")
    if code != locator:  # An expression, or a function to be called.
        code = f"(given => typeof given === 'function' ? given() : given)({code})"
    try:
        found = await page.evaluate(f"(() => {code})()", main_world=True)
    except ActionError:
        # The element is not there: that is an empty content, not a failure of the judge.
        return ""
    return str(found)  # As published "None" if there is nothing.


def contents_failure(target: ProgramHtml, found: str, *, visual: bool = False) -> str | None:
    """Return why what was found in a place is not what the config requires, or None."""
    place = f"{target.locator or 'the page'} at {target.url}"
    contents = target.required_contents
    if contents.exact_match is not None:
        if clean(found) != clean(contents.exact_match):
            return f'{place} gives "{_short(found)}", not "{contents.exact_match}".'
        return None
    said = f'{place} gives "{_short(found)}", which'
    if visual:
        return _visual_failure(contents, found, said)
    for wanted in contents.must_include or ():
        if not any(includes(one, found) for one in wanted.split(OR)):
            return f"{said} does not include {_listed(wanted.split(OR))}."
    return None


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 120 else f"{plain[:117]}…"


def _questions(config: WebArenaConfig, answer: str) -> list[str]:
    """Return what the LLM is asked; nothing if the answer settles it."""
    fuzzy = config.eval.reference_answers.fuzzy_match
    if fuzzy is None:
        return []
    if fuzzy == NOT_ACHIEVABLE:
        if clean(answer) == clean(fuzzy[0]):
            return []
        return [_reason_question(config.intent, config.eval.string_note or "", answer)]
    return [_answer_question(config.intent, reference, answer) for reference in fuzzy if clean(answer)]


def _answer_question(intent: str, reference: str, answer: str) -> str:
    return (
        "Decide whether an answer to a question means the same as the reference answer. "
        'The wording may differ. "N/A" means that the task cannot be done.\n'
        f"Question: {intent}\nReference answer: {reference}\nAnswer: {answer}\n"
        "Say why in one sentence. Then end with one line that is exactly one of:\n"
        "VERDICT: yes\nVERDICT: no\nSay no if the answer is right only in part."
    )


def _reason_question(intent: str, reason: str, answer: str) -> str:
    return (
        "A task cannot be done, for a known reason. Somebody tried it and reported. "
        "Decide whether the report gives that reason, if only by implication.\n"
        f"Task: {intent}\nKnown reason: {reason}\nReport: {answer}\n"
        "Say why in one sentence. Then end with one line that is exactly one of:\nVERDICT: yes\nVERDICT: no"
    )


async def _ask_all(questions: list[str], ask: Ask | None) -> Verdict:
    if ask is None:
        return Verdict(
            judge="none", reason="The answer must be judged by an LLM, but no LLM is set for this."
        )
    for question in questions:
        try:
            reply = await ask(question)
        except LLMError as error:
            return Verdict(judge="none", reason=f"The LLM that judges the answer failed: {error}")
        verdicts = re.findall(r"verdict\W+(yes|no)\b", reply, re.IGNORECASE) or re.findall(
            r"^\W*(yes|no)\W*$", reply.strip(), re.IGNORECASE
        )
        said = " ".join(reply.split())
        if not verdicts:
            return Verdict(
                judge="llm", reason=f'The LLM gave no clear verdict on the answer: "{_short(said)}".'
            )
        if verdicts[-1].lower() == "no":
            return Verdict(
                success=False, reward=0.0, judge="llm", reason=f"The LLM refused the answer: {said}"
            )
    return Verdict(success=True, reward=1.0, judge="llm", reason=f"The LLM accepted the answer: {said}")


# The ``func:`` forms of program_html: a few named calls

REQUEST_SECONDS = 30.0
_MEMBER_ROLE = """((account) => {
  const names = [...document.querySelectorAll("td[data-label='Account'] span.gl-avatar-labeled-sublabel")];
  const index = names.findIndex((name) => name.innerText === "@" + account);
  const roles = document.querySelectorAll("td.col-max-role span");
  return index >= 0 && index < roles.length ? roles[index].innerText : "";
})"""

_TEXT = "(css => { try { return document.querySelector(css).textContent; } catch { return ''; } })"


async def run_call(text: str, page: PageDriver, sites: Mapping[str, str], task: str) -> str:
    """Return what the call gives, with the page's URL for ``__last_url__``.

    Raises UsageError or WorldError if the shop cannot be asked, and ActionError if the page cannot be.
    """
    name, arguments = parse_call(text)
    if name == "reddit_get_post_url":
        return post_url(arguments[0].replace("__last_url__", await page.url()))
    if name == "gitlab_get_project_memeber_role":
        return str(await page.evaluate(f"{_MEMBER_ROLE}({json.dumps(arguments[0])})", main_world=True))
    if name.startswith("get_query_text"):
        text = str(await page.evaluate(f"{_TEXT}({json.dumps(arguments[0])})", main_world=True))
        return text.lower() if name.endswith("lowercase") else text
    shop = _Shop(sites, task)
    try:
        if name == "shopping_get_latest_order_url":
            return await asyncio.to_thread(shop.latest_order_url)
        review = await asyncio.to_thread(shop.latest_review, arguments[0])
        if review is None:
            return ""
        if name == "shopping_get_sku_latest_review_author":
            return str(review.get("nickname", ""))
        ratings = review.get("ratings") or [{}]
        return str(ratings[0].get("percent", ""))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise WorldError(
            f"The shop's answer for {task} does not have the form of Magento's ({error!r})."
        ) from error


def post_url(url: str) -> str:
    """Return the address of the post that a page of the forum belongs to, or `url` where it is no post's."""
    parts = urlparse(url)
    path = parts.path.split("/")
    if len(path) < 4 or path[1] != "f":
        return url
    return f"{parts.scheme}://{parts.netloc}/f/{path[2]}/{path[3]}/"


class _Shop:
    """The shop's REST interface, asked as its administrator."""

    def __init__(self, sites: Mapping[str, str], task: str) -> None:
        self._task = task
        self._base = site_address("SHOPPING", sites, task)
        self._user = sites.get("SHOPPING_SITE_ADMIN_USERNAME", "")
        self._password = sites.get("SHOPPING_SITE_ADMIN_PASSWORD", "")
        if not self._user or not self._password:
            raise UsageError(
                f"{task} is judged by asking the shop as its administrator: set "
                "SHOPPING_SITE_ADMIN_USERNAME and SHOPPING_SITE_ADMIN_PASSWORD in the environment."
            )

    def latest_order_url(self) -> str:
        query = urlencode(
            {
                "searchCriteria[sortOrders][0][field]": "created_at",
                "searchCriteria[sortOrders][0][direction]": "DESC",
                "searchCriteria[pageSize]": "1",
            }
        )
        found = self._get(f"/rest/V1/orders?{query}")
        items = found.get("items") if isinstance(found, dict) else None
        if not items:
            return f"{self._base}/sales/order/history/"
        return f"{self._base}/sales/order/view/order_id/{int(items[0]['increment_id'])}/"

    def latest_review(self, sku: str) -> dict[str, Any] | None:
        reviews = self._get(f"/rest/V1/products/{quote(sku, safe='')}/reviews")
        return reviews[-1] if isinstance(reviews, list) and reviews else None

    def _get(self, path: str) -> Any:
        token = self._request(
            "/rest/default/V1/integration/admin/token", {"username": self._user, "password": self._password}
        )
        return self._request(path, None, str(token))

    def _request(self, path: str, body: dict[str, str] | None, token: str = "") -> Any:
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        try:
            request = urllib.request.Request(self._base + path, data=data, headers=headers)
            with urllib.request.urlopen(request, timeout=REQUEST_SECONDS) as answer:
                return json.load(answer)
        except (OSError, ValueError, HTTPException) as error:
            place = path.partition("?")[0]
            raise WorldError(
                f"The shop could not be asked at {self._base}{place} to judge {self._task}: {error}."
            ) from error
