"""What WebArena's evaluators accept and refuse, case by case, without a browser."""

import html

import pytest

from core.environments.webarena_config import EvaluationConfig, ProgramHtml, WebArenaConfig
from core.environments.webarena_judge import (
    clean,
    contents_failure,
    includes,
    judge_config,
    parse_call,
    plain_string_failure,
    post_url,
    url_failure,
    visual_url_failure,
)
from core.schema.errors import LLMError
from tests.core.environments.webarena_references import answers, contents, tasks, urls


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ('  "Sprite" ', "sprite"),
        ("'a'", "a"),
        ("\"a'", "\"a'"),
        ("'", ""),
        ("' a '", " a "),
        ("", ""),
        ("It's", "it's"),
    ],
)
def test_answers_are_compared_without_case_and_quotes_around_them(text, cleaned):
    assert clean(text) == cleaned


@pytest.mark.parametrize(
    ("reference", "text", "whole_word", "found"),
    [
        ("cat", "concatenate", False, True),
        ("cat", "concatenate", True, True),
        ("6", "There are 16 of them", True, False),
        ("6", "There are 16 of them", False, True),
        ("6", "There are 6.", True, True),
        ("6", "$6, no more", True, True),
        ("6", "(6)", True, True),
        ("6", "6.5", True, False),
        ("6", "6's, or 6#x", True, True),
        ("6", "a6-b6", True, False),
        ("-", "a-b", True, True),
        ("", "anything", True, True),
    ],
)
def test_a_single_character_must_be_a_word_and_longer_text_may_lie_inside_one(
    reference, text, whole_word, found
):
    assert includes(reference, text, whole_word=whole_word) is found


def string_evaluation(**references) -> EvaluationConfig:
    return EvaluationConfig.model_validate({"eval_types": ["string_match"], "reference_answers": references})


@pytest.mark.parametrize(
    ("references", "answer", "passes"),
    [
        ({"exact_match": "Sprite"}, '"sprite"', True),
        ({"exact_match": "Sprite"}, "Sprite, by far", False),
        ({"must_include": ["6"]}, "16", False),
        ({"must_include": ["6", "a"]}, "16a", True),
        ({"must_include": ["Duffle", "Band"]}, "a duffle and a band", True),
        ({"must_include": ["Duffle", "Band"]}, "a duffle", False),
        ({"exact_match": "a", "must_include": ["b"]}, "a", False),
    ],
)
def test_all_references_must_match(references, answer, passes):
    failure = plain_string_failure(string_evaluation(**references), answer)
    assert (failure is None) is passes


@pytest.mark.parametrize(
    ("references", "answer", "why"),
    [
        ({"must_include": ["0"]}, "10", 'The answer "10" does not include "0" as a word of its own.'),
        ({"must_include": ["a", "0"]}, "b0", 'The answer "b0" does not include "a".'),
        (
            {"must_include": ["65 |OR| 3"]},
            "65",
            'The answer "65" does not include "65 |OR| 3". The task\'s file joins alternatives with |OR|, which '
            "string_match does not part, as published.",
        ),
        (
            {"exact_match": "a |OR| b"},
            "a",
            'The answer is "a", not "a |OR| b". The task\'s file joins alternatives with |OR|, which string_match '
            "does not part, as published.",
        ),
    ],
)
def test_the_reason_is_true_as_a_sentence(references, answer, why):
    assert plain_string_failure(string_evaluation(**references), answer) == why


@pytest.mark.parametrize(
    ("references", "answer", "why"),
    [
        ({"must_include": ["65 |OR| 3"]}, "65", None),
        ({"must_include": ["65 |OR| 3"]}, "It is 3.", None),
        (
            {"must_include": ["65 |OR| 3"]},
            "653",
            'The answer "653" does not include "65" or "3" as a word of its own.',
        ),
        ({"must_include": ["561,400"]}, "There are 561,400.", None),
        ({"must_include": ["two words"]}, "not two wordsworths", None),
        (
            {"must_include": ["cat"]},
            "concatenate",
            'The answer "concatenate" does not include "cat" as a word of its own.',
        ),
        ({"must_exclude": ["blue"]}, "red", None),
        ({"must_exclude": ["blue"]}, "bluebell", None),
        (
            {"must_exclude": ["blue"]},
            "It is Blue!",
            'The answer "It is Blue!" includes "blue", which it must not.',
        ),
        ({"one_of": ["red", "green"]}, "dark green", None),
        ({"one_of": ["red", "green"]}, "blue", 'The answer "blue" includes none of "red" or "green".'),
        ({"required_values": [">= 300", "< 1000"]}, "1,000", None),
        ({"required_values": [">= 300"]}, "299", 'The answer "299" is not >= 300.'),
        ({"required_values": ["== 5 |OR| > 10"]}, "7", 'The answer "7" is not == 5 or > 10.'),
        ({"required_values": ["<= 5"]}, "five", 'The answer "five" is not a whole number.'),
    ],
)
def test_answers_are_judged_by_the_rules_of_visualwebarena_where_the_file_is_of_it(references, answer, why):
    assert plain_string_failure(string_evaluation(**references), answer, visual=True) == why


@pytest.mark.parametrize("comparison", ["300", "=> 3", "> a", ">"])
def test_a_comparison_without_a_sign_and_a_number_is_refused(comparison):
    with pytest.raises(ValueError, match="a sign and a number"):
        string_evaluation(required_values=[comparison])


@pytest.mark.parametrize(
    ("reference", "url", "exact", "passes"),
    [
        ("http://localhost:99/a", "http://127.0.0.1:99/a/", True, True),
        ("http://a/x", "http://a/x?page=2", True, False),
        ("http://a/x |OR| http://a/y", "http://a/y", True, True),
        ("http://a/x", "http://a/x?page=2", False, True),
        ("http://a/x", "http://a/y", False, False),
    ],
)
def test_a_url_is_compared_as_visualwebarena_does(reference, url, exact, passes):
    assert (visual_url_failure(reference, url, exact) is None) is passes


def page_evaluation(**required) -> dict:
    return {
        "eval_types": ["program_html"],
        "program_html": [{"url": "last", "required_contents": required}],
    }


@pytest.mark.parametrize(
    ("keys", "visual"),
    [
        ({}, False),
        ({"image": None}, True),
        ({"visual_difficulty": "easy"}, True),
        ({"old_task_id": 4}, True),
        ({"eval": {"eval_types": ["url_match"], "reference_url": "x", "url_note": "EXACT"}}, True),
        ({"eval": {"eval_types": ["string_match"], "reference_answers": {"must_exclude": ["x"]}}}, True),
        ({"eval": page_evaluation(must_exclude=["x"])}, True),
        ({"eval": page_evaluation(required_values=["> 3"])}, True),
        ({"eval": page_evaluation(must_include=["x"])}, False),
    ],
)
def test_a_task_of_visualwebarena_is_known_by_its_keys(keys, visual):
    plain = {"eval_types": ["string_match"], "reference_answers": {"exact_match": "x"}}
    config = WebArenaConfig.model_validate(
        {"task_id": 1, "intent": "x", "start_url": "x", "eval": plain} | keys
    )
    assert config.visual is visual
    assert WebArenaConfig.model_validate(config.model_dump(mode="json", exclude_unset=True)).visual is visual


def test_a_stored_task_that_an_earlier_version_took_for_webarenas_own_is_known_too():
    stored = {"task_id": 1, "intent": "x", "start_url": "x", "visual": False, "unjudged": []}
    stored["eval"] = page_evaluation(must_exclude=["x"])
    assert WebArenaConfig.model_validate(stored).visual is True


@pytest.mark.parametrize(
    ("required", "found", "why"),
    [
        ({"must_exclude": ["sold"]}, "in stock", None),
        ({"must_exclude": ["sold"]}, "Sold out", 'includes "sold", which it must not.'),
        ({"required_values": ["> 3"]}, "4", None),
        ({"required_values": ["> 3"]}, "2", "is not > 3."),
        ({"fuzzy_match": ["a", "b"]}, "anything", None),
    ],
)
def test_contents_are_judged_by_the_rules_of_visualwebarena_too(required, found, why):
    target = ProgramHtml.model_validate({"url": "last", "required_contents": required})
    failure = contents_failure(target, found, visual=True)
    assert failure is None if why is None else failure.endswith(why)


@pytest.mark.parametrize(
    ("reference", "url", "passes"),
    [
        ("http://shop.test/a", "http://shop.test/a/", True),
        ("http://shop.test/a", "https://shop.test/a", True),
        ("http://shop.test/a", "http://shop.test/a/b?c=d", True),
        ("http://shop.test/a", "http://shop.test/ab", True),
        ("http://shop.test/a/b", "http://shop.test/a", False),
        ("http://shop.test/a |OR| http://shop.test/b", "http://shop.test/b", True),
        ("http://shop.test/?q=1", "http://shop.test/?q=1&r=2", True),
        ("http://shop.test/?q=1", "http://shop.test/?q=2", False),
        ("http://shop.test/?q=1", "http://shop.test/", False),
        ("http://shop.test/?q=1 |OR| http://shop.test/?q=2", "http://shop.test/?q=2", True),
        ("http://shop.test/x?q=1 |OR| http://shop.test/y?r=2", "http://shop.test/x?q=1", False),
    ],
)
def test_a_url_matches_as_gold_in_pred_does(reference, url, passes):
    assert (url_failure(reference, url) is None) is passes


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("reddit_get_post_url('__last_url__')", "reddit_get_post_url", ("__last_url__",)),
        ("shopping_get_latest_order_url()", "shopping_get_latest_order_url", ()),
        ("gitlab_get_project_memeber_role(__page__, 'a')", "gitlab_get_project_memeber_role", ("a",)),
        ('shopping_get_sku_latest_review_author("B0")', "shopping_get_sku_latest_review_author", ("B0",)),
    ],
)
def test_a_helper_call_is_read(text, name, arguments):
    assert parse_call(text) == (name, arguments)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('ls')",
        "open('/etc/passwd')",
        "reddit_get_post_url(open('x').read())",
        "reddit_get_post_url()",
        "shopping_get_latest_order_url('x')",
        "reddit_get_post_url(url='x')",
        "1 +",
        "reddit_get_post_url",
    ],
)
def test_no_other_code_of_a_config_is_read(text):
    with pytest.raises(ValueError):
        parse_call(text)


@pytest.mark.parametrize(
    ("url", "post"),
    [
        ("http://r.test/f/space/12/a-title#comment", "http://r.test/f/space/12/"),
        ("http://r.test/f/space", "http://r.test/f/space"),
        ("http://r.test/u/space/12/x", "http://r.test/u/space/12/x"),
    ],
)
def test_the_post_of_a_forum_page_is_found_by_its_address(url, post):
    assert post_url(url) == post


class Judge:
    """Answers in the LLM's place, and keeps what it was asked."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.questions: list[str] = []

    async def __call__(self, question: str) -> str:
        self.questions.append(question)
        return self.replies.pop(0)


async def judged(references: dict, answer: str, ask, note: str = ""):
    config = WebArenaConfig.model_validate(
        {
            "task_id": 0,
            "intent": "How long does it take?",
            "start_url": "http://map.test",
            "eval": {"eval_types": ["string_match"], "reference_answers": references, "string_note": note},
        }
    )
    # string_match looks at no page.
    return await judge_config(config, None, answer, ask, {}, "webarena/0")


async def test_a_fuzzy_match_is_judged_by_the_llm_and_marked_so():
    ask = Judge("Same length.\nVERDICT: yes")
    verdict = await judged({"fuzzy_match": ["2 min"]}, "two minutes", ask)
    assert (verdict.success, verdict.reward, verdict.judge) == (True, 1.0, "llm")
    assert all(part in ask.questions[0] for part in ("How long does it take?", "2 min", "two minutes"))


async def test_every_reference_must_be_met_and_the_first_refusal_ends_it():
    ask = Judge("VERDICT: yes", "It says nothing of walking.\nVERDICT: no", "VERDICT: yes")
    verdict = await judged({"fuzzy_match": ["a", "b", "c"]}, "two minutes", ask)
    assert (verdict.success, verdict.judge, len(ask.questions)) == (False, "llm", 2)
    assert "nothing of walking" in verdict.reason


@pytest.mark.parametrize(
    "reply", ["**Verdict:** Yes", "yes", " Yes. ", "I first thought VERDICT: no.\nVERDICT: yes"]
)
async def test_a_verdict_is_read_however_it_is_dressed(reply):
    assert (await judged({"fuzzy_match": ["a"]}, "b", Judge(reply))).success is True


async def test_an_unclear_verdict_leaves_the_success_unknown():
    verdict = await judged({"fuzzy_match": ["a"]}, "b", Judge("Well, it depends; yes and no."))
    assert (verdict.success, verdict.reward, verdict.judge) == (None, None, "llm")


async def test_without_an_llm_the_success_is_unknown_and_the_reason_says_why():
    verdict = await judged({"fuzzy_match": ["a"]}, "b", None)
    assert (verdict.success, verdict.judge) == (None, "none")
    assert "LLM" in verdict.reason


async def test_an_llm_that_fails_leaves_the_success_unknown():
    async def ask(question: str) -> str:
        raise LLMError("The LLM at x does not answer.")

    verdict = await judged({"fuzzy_match": ["a"]}, "b", ask)
    assert (verdict.success, verdict.judge) == (None, "none")
    assert "does not answer" in verdict.reason


async def test_no_llm_is_asked_where_the_answer_is_wrong_or_missing_anyway():
    ask = Judge()
    assert (await judged({"fuzzy_match": ["a"]}, " ", ask)).success is False
    assert (await judged({"fuzzy_match": ["a"], "must_include": ["z"]}, "b", ask)).success is False
    assert ask.questions == []


async def test_na_given_as_the_answer_needs_no_llm():
    verdict = await judged({"fuzzy_match": "N/A"}, "n/a", None, note="There is no such user")
    assert (verdict.success, verdict.judge) == (True, "file")


async def test_another_answer_to_an_impossible_task_is_compared_with_the_reason():
    ask = Judge("VERDICT: yes")
    verdict = await judged({"fuzzy_match": "N/A"}, "I found no such user", ask, note="There is no such user")
    assert (verdict.success, verdict.judge) == (True, "llm")
    assert "There is no such user" in ask.questions[0]


def test_every_reference_of_the_812_tasks_is_compared_as_webarenas_own_evaluators_do():
    otherwise: list[tuple[int, str, str]] = []

    def compare(task: int, texts: list[str], said: list[str | None], published: str) -> None:
        assert len(texts) == len(published)
        for text, failure, matches in zip(texts, said, published, strict=True):
            if (failure is None) is not (matches == "1"):
                otherwise.append((task, text, matches))

    count = 0
    for task in tasks():
        count += 1
        number = task["task_id"]
        if "answers" in task:
            evaluation = string_evaluation(**task["answers"])
            texts = answers(task["answers"])
            compare(number, texts, [plain_string_failure(evaluation, one) for one in texts], task["answered"])
        if "url" in task:
            texts = urls(task["url"])
            compare(number, texts, [url_failure(task["url"], one) for one in texts], task["reached"])
        for required, published in zip(task.get("contents", ()), task.get("shown", ()), strict=True):
            target = ProgramHtml.model_validate({"url": "last", "required_contents": required})
            texts = contents(required)
            said = [contents_failure(target, html.unescape(one)) for one in texts]
            compare(number, texts, said, published)
    assert count == 812
    assert not otherwise, otherwise[:10]
