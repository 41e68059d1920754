"""What servers answered, stored and read."""

from core.browser.recorded.exchange import Exchange, Taken, hash_of
from core.trace.store import TraceStore
from tests.core.trace.making import start


def taken(url, body=b"", **more):
    return Taken(Exchange(method="GET", url=url, status=200, body=hash_of(body), **more), body)


def test_answers_come_back_in_order_with_their_contents(store):
    run = store.begin_run(start())
    first = taken("http://a.test/", b"<p>page</p>" * 20, opening=True, headers=(("Set-Cookie", "a=1"),) * 2)
    second = taken("http://a.test/b")
    third = Taken(Exchange(method="POST", url="http://a.test/c", error="net::ERR_FAILED", sent="x"), b"")
    store.pages.save_network(run, 0, [first])
    store.pages.save_network(run, 1, [second, third])
    found = store.pages.network(run)
    assert found == (
        first.exchange,
        second.exchange.replace(step=1),
        third.exchange.replace(step=1),
    )
    assert store.blob(found[0].body) == first.body


def test_a_branch_has_what_came_before_it_and_not_what_came_after(store):
    run = store.begin_run(start())
    for step in (0, 1, 2, 3):
        store.pages.save_network(run, step, [taken(f"http://a.test/{step}")])
    branch = store.begin_run(start().replace(parent_run=run, parent_step=2))
    store.pages.save_network(branch, 2, [taken("http://a.test/other")])
    assert [one.url[-5:] for one in store.pages.network(branch)] == ["est/0", "est/1", "other"]


def test_others_can_write_while_answers_are_searched_for_secrets(store):
    run = store.begin_run(start())
    other = TraceStore.open(store.path, busy_seconds=0.1)

    def answers():
        other.name_run(run, "the slow one")
        yield taken("http://a.test/?token=abc123de")

    store.pages.save_network(run, 0, answers())
    assert store.run(run).name == "the slow one"
    assert [one.url for one in store.pages.network(run)] == ["http://a.test/?token=removed-token-1"]
    other.close()
