import pytest

from core.agent.policies.catalogue import POLICIES, Policies
from core.schema.action import ACTIONS
from core.schema.errors import DataError, UsageError
from tests.core.agent.policies.making import GOOD, write

SITES = {
    "GITLAB": "http://host:8023",
    "MAP": "http://host:3000/",
    "REDDIT": "http://host:9999",
    "SHOPPING": "http://host:7770",
    "SHOPPING_ADMIN": "http://host:7770/admin",
}


@pytest.fixture
def installed():
    return Policies((POLICIES,), SITES)


@pytest.fixture
def own(tmp_path):
    folder = tmp_path / "policies"
    folder.mkdir()
    return folder


@pytest.fixture
def base(tmp_path):
    folder = tmp_path / "base"
    for id in ("desk/find_order", "desk/find_customer", "yard/find_order"):
        write(folder, id)
    write(folder, "desk/top", top="true")
    return folder


@pytest.fixture
def policies(base, own):
    return Policies((base, own), SITES)


def test_the_libraries_of_the_installation_are_whole(installed):
    assert installed.check() == ()
    by_folder = {}
    for id in installed.names():
        by_folder.setdefault(id.partition("/")[0], []).append(installed.get(id))
    counts = {folder: len(found) for folder, found in by_folder.items()}
    assert counts == {"airline": 10, "miniwob": 8, "shop": 5, "webarena": 20}
    assert all(policy.examples for found in by_folder.values() for policy in found)


@pytest.mark.parametrize(
    ("environment", "url", "top", "calls"),
    [
        ("miniwob", "http://127.0.0.1/miniwob/book-flight.html", "miniwob/web_agent", "choose_date"),
        ("shop", "http://127.0.0.1:80/", "shop/shop", "choose_options"),
        ("airline", "http://127.0.0.1:80/#/find", "airline/airline_desk", "change_flights"),
        ("webarena", "http://host:8023/mira", "webarena/gitlab", "find_commits"),
        ("webarena", "http://host:3000", "webarena/map", "find_directions"),
        ("webarena", "http://host:9999/f/books", "webarena/reddit", "find_user"),
        ("webarena", "http://host:7770/catalog", "webarena/shopping", "search_order"),
        ("webarena", "http://host:7770/admin/sales", "webarena/shopping_admin", "find_order"),
    ],
)
def test_each_site_has_one_policy_to_begin_with_that_can_call_its_others(
    installed, environment, url, top, calls
):
    policy = installed.top_of(environment, url)
    assert policy is not None
    assert policy.id == top
    names = [one.name for one in installed.callable_from(policy, environment, url)]
    assert calls in names
    assert policy.name in names
    assert sum(one.top for one in installed.applying(environment, url)) == 1


@pytest.mark.parametrize(
    ("environment", "url"),
    [
        ("miniwob", "http://127.0.0.1/miniwob/book-flight.html"),
        ("webarena", "http://host:8023/mira"),
        ("webarena", "http://host:7770/admin/sales"),
    ],
)
def test_the_flat_policy_begins_a_run_only_by_its_name_and_nobody_calls_it(installed, environment, url):
    flat = installed.top_of(environment, url, "flat")
    assert flat is not None
    assert flat.id == f"{environment}/flat"
    assert installed.callable_from(flat, environment, url) == ()
    for policy in installed.applying(environment, url):
        assert flat not in installed.callable_from(policy, environment, url)
        names = {one.name for one in installed.applying(environment, url)}
        assert not [
            name for name in names if f"{name} [" in flat.instruction or f"`{name}`" in flat.instruction
        ]


def test_a_policy_to_begin_with_that_is_nowhere_is_reported_with_the_nearest_name(installed):
    assert installed.top_of("shop", "http://127.0.0.1:80/", "flat") is None
    with pytest.raises(
        UsageError, match=r'There is no policy "flatt", .*top in \[policies\]; did you mean flat\?'
    ):
        installed.top_of("shop", "http://127.0.0.1:80/", "flatt")


def test_on_a_page_of_no_known_site_no_policy_begins(installed):
    assert installed.top_of("web", "http://example.test/") is None
    assert installed.top_of("webarena", "http://host:80230/") is None


def test_every_policy_of_the_installation_allows_what_its_examples_do(installed):
    for id in installed.names():
        policy = installed.get(id)
        for example in policy.examples:
            assert example.call.does == "call" or policy.allows(example.call.name)
            assert example.call.name in ACTIONS or example.call.does == "call"


def test_one_name_in_two_environments_does_not_clash(policies):
    assert policies.check() == ()
    assert policies.get("find_order", "desk").id == "desk/find_order"
    assert policies.get("find_order", "yard").id == "yard/find_order"
    assert policies.get("yard/find_order").id == "yard/find_order"
    with pytest.raises(UsageError, match="give the id"):
        policies.get("find_order")


def test_the_users_policy_wins_over_one_of_the_same_place(policies, own):
    write(own, "desk/find_order", description='"Mine."')
    assert policies.get("desk/find_order").description == "Mine."
    assert len(policies.names()) == 4


def test_an_edited_policy_is_read_anew_and_a_mended_one_is_taken(policies, own):
    path = write(own, "desk/mine")
    assert policies.get("desk/mine").instruction == "Do desk/mine."
    write(own, "desk/mine", path.read_text().replace("Do desk/mine.", "Do it well."))
    assert policies.get("desk/mine").instruction == "Do it well."
    write(own, "desk/mine", "nonsense")
    with pytest.raises(DataError, match="line 1"):
        policies.get("desk/mine")
    with pytest.raises(DataError, match="line 1"):
        policies.get("mine", "desk")
    write(own, "desk/mine")
    assert policies.get("desk/mine").instruction == "Do desk/mine."
    path.unlink()
    assert "desk/mine" not in policies.names()


def test_an_unknown_policy_names_the_nearest(policies):
    with pytest.raises(UsageError, match='no policy "find_ordre"; did you mean find_order'):
        policies.get("find_ordre")
    with pytest.raises(UsageError, match="did you mean desk/find_order"):
        policies.get("desk/find_ordr")


def test_calling_an_unknown_policy_is_refused_with_the_nearest_that_can_be_called(policies):
    top = policies.get("desk/top")
    with pytest.raises(UsageError, match='no policy "find_custmer" to call here; did you mean find_customer'):
        policies.called(top, "find_custmer", "desk", "http://desk/")
    assert policies.called(top, "find_customer", "desk", "http://desk/").id == "desk/find_customer"


def test_a_policy_can_call_itself_and_only_what_its_list_has(policies, own):
    write(own, "desk/find_order", policies='["find_order"]')
    one = policies.get("find_order", "desk")
    assert [found.id for found in policies.callable_from(one, "desk", "http://desk/")] == ["desk/find_order"]


def test_a_policy_is_offered_only_where_it_applies(policies, own):
    write(own, "desk/find_order", GOOD)
    names = [one.name for one in policies.applying("desk", "http://desk/orders")]
    assert "find_order" in names
    assert "find_order" not in [one.name for one in policies.applying("desk", "http://desk/customers")]
    assert [one.id for one in policies.applying("yard", "http://yard/orders")] == ["yard/find_order"]


def test_a_policy_that_calls_an_unknown_one_is_reported_with_file_line_and_nearest_name(policies, own):
    path = write(
        own,
        "desk/find_order",
        GOOD.replace('"find_customer"]', '"find_custmer"]').replace(
            "ACTION: find_customer [555 0142]", "ACTION: find_order [555 0142]"
        ),
    )
    with pytest.raises(DataError) as refused:
        policies.get("desk/find_order")
    assert (
        str(refused.value)
        == f'{path}, line 4: there is no policy "find_custmer"; did you mean find_customer?'
    )
    assert policies.check() == (str(refused.value),)


def test_an_example_that_calls_an_unknown_policy_is_reported(policies, own):
    text = GOOD.replace('policies = ["find_order", "find_customer"]\n', "").replace(
        "find_customer [", "find_custmer ["
    )
    path = write(own, "desk/find_order", text)
    line = text[: text.index("## Somebody")].count("\n") + 1
    with pytest.raises(DataError) as refused:
        policies.get("desk/find_order")
    assert str(refused.value).startswith(f"{path}, line {line}: ")
    assert "did you mean find_customer?" in str(refused.value)


def test_check_lists_the_problems_of_all_files(policies, own):
    broken = write(own, "desk/broken", "nonsense")
    calling = write(own, "desk/calling", policies='["nobody"]')
    twin = write(own, "yard/twin", name='"find_customer"')
    again = write(own, "yard/other", name='"find_customer"')
    write(own, "desk/second", top="true")
    problems = policies.check()
    assert len(problems) == 4
    assert problems[0].startswith(f"{broken}, line 1: ")
    assert f"{twin}, line 3: yard/find_customer is also the name of {again}" in problems[1]
    assert problems[2].startswith(f'{calling}, line 3: there is no policy "nobody"')
    assert "desk/top and desk/second are both the first policy" in problems[3]


def test_a_wrong_file_stops_its_own_environment_only(policies, own):
    write(own, "yard/broken", "nonsense")
    assert policies.applying("desk", "http://desk/")
    with pytest.raises(DataError):
        policies.applying("yard", "http://yard/")
