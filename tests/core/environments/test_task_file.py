import json
from pathlib import Path

import pytest

from core.environments.task_file import TaskFile
from core.schema.errors import DataError
from core.schema.task import Episode

TOML = """\
title = "My tasks"

[[tasks]]
id = "find"
instruction = "Find the price of the lamp."
url = "https://shop.example.org"
tags = ["shop", "search"]

[tasks.judge]
answer = "12 EUR"

[[tasks]]
id = "look"
instruction = "Just look."
url = "localhost:8000"
"""


def written(folder: Path, text: str, name: str = "mine.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def problems_of(path: Path) -> list[str]:
    with pytest.raises(DataError) as caught:
        TaskFile.read(path)
    head, *lines = str(caught.value).splitlines()
    assert head.startswith(str(path))
    return [line.strip() for line in lines] or [head.removeprefix(f"{path}, ").removeprefix(f"{path}: ")]


def test_the_tasks_of_a_toml_file_are_read_in_order(tmp_path):
    file = TaskFile.read(written(tmp_path, TOML))
    find, look = file.tasks()
    assert (file.id, file.title) == ("mine", "My tasks")
    assert (find.id, find.environment, find.judged) == ("mine/find", "mine", True)
    assert (find.start_url, find.tags) == ("https://shop.example.org", ("shop", "search"))
    assert (look.start_url, look.judged) == ("http://localhost:8000", False)


@pytest.mark.parametrize("wrapped", [True, False])
def test_a_json_file_says_the_same_as_a_list_or_under_tasks(tmp_path, wrapped):
    tasks = [{"id": "a", "instruction": "Do it.", "url": "example.org", "judge": {"must_include": ["x"]}}]
    path = written(tmp_path, json.dumps({"tasks": tasks} if wrapped else tasks), "mine.json")
    (task,) = TaskFile.read(path).tasks()
    assert (task.id, task.start_url, task.judged) == ("mine/a", "https://example.org", True)


def test_the_name_in_the_file_comes_before_the_name_of_the_file(tmp_path):
    file = TaskFile.read(written(tmp_path, 'name = "lamps"\n' + TOML))
    assert (file.id, file.tasks()[0].id) == ("lamps", "lamps/find")


def test_a_url_that_begins_with_a_dot_is_a_file_beside_the_task_file(tmp_path):
    page = written(tmp_path, "<p>", "page.html")
    path = written(tmp_path, '[[tasks]]\nid = "a"\ninstruction = "b"\nurl = "./page.html"\n')
    assert TaskFile.read(path).tasks()[0].start_url == page.as_uri()


def test_an_unknown_key_is_named_with_its_line_and_the_nearest_valid_key(tmp_path):
    path = written(tmp_path, TOML.replace("answer =", "awnser =").replace('url = "local', 'start = "local'))
    assert problems_of(path) == [
        'line 10: there is no key "awnser" in [tasks.judge]; did you mean answer?',
        'line 12: the key "url" is missing in [tasks]; add it.',
        'line 15: there is no key "start" in [tasks]; there are id, instruction, url, tags, clock, '
        "sites, upload_folders, viewport, secrets, judge.",
    ]


def test_a_json_file_names_lines_too(tmp_path):
    text = json.dumps({"tasks": [{"id": "a", "instruction": "b", "url": "c.org", "tags": "x"}]}, indent=1)
    assert problems_of(written(tmp_path, text, "mine.json")) == [
        "line 7: \"tags\" = 'x' in tasks[0] cannot be used: it must be a list."
    ]
    text = json.dumps(
        [{"id": "a", "instruction": "b", "url": "c.org"}, {"id": 7, "instruction": "", "url": "c.org"}]
    )
    lines = problems_of(written(tmp_path, text.replace("}, {", "},\n{"), "mine.json"))
    assert lines == [
        'line 2: "id" = 7 in tasks[1] cannot be used: it must be text in quotes.',
        "line 2: \"instruction\" = '' in tasks[1] cannot be used: it must not be empty.",
    ]


def test_all_problems_are_listed_together(tmp_path):
    text = TOML.replace("localhost:8000", "no url").replace('"look"', '"find"') + '[[tasks]]\nid = "a b"\n'
    text += '[tasks.judge]\nurl_regex = "("\n'
    lines = problems_of(written(tmp_path, text))
    assert [line.split(": ")[1] for line in lines] == [
        "\"url\" = 'no url' in [tasks] cannot be used",
        "\"id\" = 'a b' in [tasks] cannot be used",
        'the key "instruction" is missing in [tasks]; add it.',
        'the key "url" is missing in [tasks]; add it.',
        "\"url_regex\" = '(' in [tasks.judge] cannot be used",
    ]
    assert "it is not a regular expression" in lines[-1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[tasks]]\nid = \n", "line 2: this is not TOML (Invalid value); correct the line."),
        ('title = "x"\n', 'the key "tasks" is missing; add it.'),
        ("tasks = []\n", 'line 1: "tasks" cannot be used: it must not be empty.'),
        ("tasks = [1]\n", 'line 1: "tasks" = 1 cannot be used: it must be a table of keys and values.'),
        ('tittle = "x"\n' + TOML, 'line 1: there is no key "tittle"; did you mean title?'),
        ('name = "miniwob"\n' + TOML, 'the name "miniwob" belongs to Backstep; set `name` to another one'),
        (TOML.replace('"look"', '"find"'), 'line 13: "find" is also the id of an earlier task'),
        (
            TOML.replace('answer = "12 EUR"', "must_include = []\nanswer_must_include = []"),
            '"judge" in [tasks] cannot be used: it is empty: add at least one condition',
        ),
        (
            TOML.replace('answer = "12 EUR"', ""),
            '"judge" in [tasks] cannot be used: it is empty: add at least one condition',
        ),
        (TOML.replace("localhost:8000", f"./{'a' * 300}"), "there is no such file"),
        (TOML.replace("localhost:8000", "./a\\u0000b"), '"url" = '),
        (f'{TOML}upload_folders = ["~nobody-of-this-name/x"]', "there is no folder "),
        (f'{TOML}upload_folders = ["~a\\u0000b"]', "there is no folder "),
        (f'{TOML}upload_folders = ["{"a" * 300}"]', "there is no folder "),
        (
            TOML.replace('"12 EUR"', "12"),
            'line 10: "answer" = 12 in [tasks.judge] cannot be used: it must be text in quotes.',
        ),
    ],
)
def test_a_problem_is_said_in_words(tmp_path, text, said):
    assert said in "\n".join(problems_of(written(tmp_path, text)))


@pytest.mark.parametrize(
    ("secrets", "said"),
    [
        ("{pin = 4711}", '"pin" in [tasks.secrets] cannot be used: it must be text in quotes.'),
        ('{pin = ["4711"]}', '"pin" in [tasks.secrets] cannot be used: it must be text in quotes.'),
        ('"4711"', '"secrets" in [tasks] cannot be used: it must be a table of keys and values.'),
        ('{"my pin" = "4711"}', '"my pin" in [tasks.secrets] cannot be used: string should match pattern'),
    ],
)
def test_a_problem_with_a_secret_is_said_without_its_value(tmp_path, secrets, said):
    (problem,) = problems_of(written(tmp_path, f"{TOML}secrets = {secrets}\n"))
    assert said in problem
    assert "4711" not in problem


def test_a_secret_keeps_its_spaces(tmp_path):
    path = written(tmp_path, f'{TOML}secrets = {{password = "  hunter2 "}}\n')
    assert TaskFile.read(path).tasks()[1].secrets == {"password": "  hunter2 "}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing.toml", None, r"cannot be read \(No such file"),
        ("bytes.toml", b"\xff\xfe\x00", "is not UTF-8 text"),
        ("tasks.yaml", b"tasks: []", "must end in .toml or .json"),
        ("text.json", b'"text"', "it must be a table of keys and values"),
        ("broken.json", b"[{]", "line 1, column 3: this is not JSON"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path, name, content, said):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=said):
        TaskFile.read(path)


PAGE = """<title>Lamp</title><body><h1>A  small
 lamp</h1><button class="buy">Buy</button><script>var price = 12;</script>
<iframe srcdoc="<p>In the frame<p><input value='in its field'>"></iframe>
<iframe srcdoc="<p>unseen frame" style="display: none"></iframe>
<my-box></my-box><my-box hidden></my-box><embed name="body"><embed name="querySelector">
<form>in the form<fieldset name="matches"></fieldset><fieldset name="checkVisibility"></fieldset></form>
<input value="typed"><textarea>in the area</textarea><input type="password" value="swordfish">
<input value="unseen field" style="visibility: hidden"><div hidden>unseen text</div>
<script>for (const box of document.querySelectorAll("my-box")) box.attachShadow({ mode: "open" }).innerHTML =
  (box.hidden ? "unseen box" : "In the box") + "<style>p { color: red }</style>" +
  "<p hidden>unseen <input value=part></p>" +
  "<form><fieldset name=nodeType></fieldset><fieldset name=innerText></fieldset>in its form</form>" +
  "<span>by</span>, <b>w</b>ord<p>apart</p>from<br>it" +
  "<a><div>Red</div></a><x-t><p>lamp</p></x-t><b>cos</b><i>t<q hidden><p>unseen</p></q>s</i><u>12</u><slot></slot>EUR" +
  "<div style='display: contents'>s</div><slot name=other>or more</slot>part<a>ner site<p>new</p></a>" +
  "Sum: $<b>9<svg style='display: block'></svg></b>0";
</script>"""


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize(
    ("judge", "answer", "success"),
    [
        ({"url_match": "{origin}/lamp.html"}, "", True),
        ({"url_match": "{origin}/lamp.html/"}, "", True),
        ({"url_match": "{origin}/lamp"}, "", False),
        ({"url_regex": r"/la.p\.html$"}, "", True),
        ({"url_regex": "chair"}, "", False),
        ({"must_include": ["a SMALL lamp", "Buy"]}, "", True),
        ({"must_include": ["a small lamp", "chair"]}, "", False),
        ({"must_include": ["in the frame", "in its field", "in the box", "typed", "in the area"]}, "", True),
        ({"must_include": ["in the form", "in its form", "by, word apart from it"]}, "", True),
        ({"must_include": ["it red lamp costs12 EURs or more partner site new sum: $9 0"]}, "", True),
        ({"must_include": ["unseen"]}, "", False),
        ({"must_include": ["swordfish"]}, "", False),
        ({"must_include": ["color"]}, "", False),
        ({"element": "button.buy"}, "", True),
        ({"element": "button.sell"}, "", False),
        ({"element": "button[["}, "", None),
        ({"answer": "12 EUR"}, ' "12  eur" ', True),
        ({"answer": "12 EUR"}, "It costs 12 EUR", False),
        ({"answer": ""}, "", True),
        ({"answer_must_include": ["12", "eur"]}, "It costs 12 EUR", True),
        ({"answer_must_include": ["12", "usd"]}, "It costs 12 EUR", False),
        ({"script": "price === 12;"}, "", True),
        ({"script": "price > 12"}, "", False),
        ({"script": "document.querySelector('.none').innerText"}, "", False),
        ({"script": "price ==="}, "", None),
        ({"script": "price, false"}, "", False),
        ({"script": "price // in EUR"}, "", True),
        ({"script": "() => false"}, "", None),
        ({"script": "async () => false"}, "", None),
        ({"script": "Promise.resolve(false)"}, "", None),
        ({"script": "price ===", "answer": "13"}, "12", False),
        ({"answer": "12", "element": ".buy", "script": "price"}, "12", True),
        ({"answer": "12", "element": ".buy", "script": "price - 12"}, "12", False),
    ],
)
async def test_every_condition_of_a_judge_must_hold(tmp_path, used_page, site, judge, answer, success):
    (site.root / "lamp.html").write_text(PAGE)
    filled = json.loads(json.dumps(judge).replace("{origin}", site.origin))
    entry = {"id": "a", "instruction": "Find the lamp.", "url": f"{site.origin}/lamp.html", "judge": filled}
    file = TaskFile.read(written(tmp_path, json.dumps([entry]), "mine.json"))
    episode = await file.open(file.tasks()[0], 0, used_page)
    assert episode.instruction == "Find the lamp."
    stored = Episode.model_validate_json(episode.model_dump_json())
    verdict = await file.judge(stored, used_page, answer)
    assert verdict.success is success
    assert verdict.judge == ("none" if success is None else "file")
    assert verdict.reward == {True: 1.0, False: 0.0, None: None}[success]
    assert verdict.reason


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_the_reason_names_every_condition_that_does_not_hold(tmp_path, used_page, site):
    (site.root / "lamp.html").write_text(PAGE)
    judge = {"must_include": ["chair"], "element": ".sell", "answer": "13", "script": "nothing.here"}
    entry = {"id": "a", "instruction": "b", "url": f"{site.origin}/lamp.html", "judge": judge}
    file = TaskFile.read(written(tmp_path, json.dumps([entry]), "mine.json"))
    reason = (await file.judge(await file.open(file.tasks()[0], 0, used_page), used_page, "12")).reason
    for part in ('"chair"', ".sell", '"13"', "nothing is not defined"):
        assert part in reason


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_a_task_without_a_judge_is_left_to_the_person(tmp_path, used_page, site):
    (site.root / "lamp.html").write_text(PAGE)
    entry = {"id": "a", "instruction": "b", "url": f"{site.origin}/lamp.html"}
    file = TaskFile.read(written(tmp_path, json.dumps([entry]), "mine.json"))
    verdict = await file.judge(await file.open(file.tasks()[0], 0, used_page), used_page, "12")
    assert (verdict.success, verdict.judge) == (None, "none")
    assert not await file.ended(used_page)


@pytest.mark.parametrize(
    "written_as", ["2026-05-01T09:00:00Z", "2026-05-01T09:00:00", "2026-05-01T11:00:00+02:00"]
)
def test_a_clock_is_read_as_utc_unless_it_names_a_zone(tmp_path, written_as):
    for quote in ("", '"'):
        text = TOML.replace(
            'url = "localhost:8000"', f'url = "localhost:8000"\nclock = {quote}{written_as}{quote}'
        )
        task = TaskFile.read(written(tmp_path, text)).tasks()[1]
        assert task.details == {"clock": 1777626000000}


def test_a_clock_that_is_no_time_is_reported_with_its_line(tmp_path):
    text = TOML.replace('url = "localhost:8000"', 'url = "localhost:8000"\nclock = "noon"')
    (problem,) = problems_of(written(tmp_path, text))
    assert problem.startswith("line 16: \"clock\" = 'noon' in [tasks] cannot be used: ")


async def test_the_clock_is_set_before_the_page_opens(tmp_path):
    text = TOML.replace('url = "localhost:8000"', 'url = "localhost:8000"\nclock = "2026-05-01T09:00:00Z"')
    file = TaskFile.read(written(tmp_path, text))
    calls = []

    class Page:
        async def add_init_script(self, script):
            calls.append(script[-70:])

        async def goto(self, url):
            calls.append(url)

        async def url(self):
            return "http://localhost:8000/"

    await file.open(file.tasks()[1], 7, Page())
    assert '"clock": 1777626000000, "seed": 7' in calls[0]
    assert calls[1] == "http://localhost:8000"
