"""Which recorded answer a request gets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.browser.checkpoints.comparison import Volatile, load_volatile
from core.browser.recorded.exchange import SOCKET, Answers, Exchange, hash_of

STABLE = Volatile(url_parameters=("t",)).url


def got(url="http://a.test/", *, body="", method="GET", sent="", status=200, headers=()):
    return Exchange(method=method, url=url, sent=sent, status=status, body=body, headers=headers)


def to(url, target, status=302, method="GET"):
    return got(url, status=status, method=method, headers=(("Location", target),))


def test_each_request_gets_its_answer_in_turn_and_the_last_one_again():
    answers = Answers([got(body="1"), got(body="2")])
    bodies = [answers.take("GET", "http://a.test/").exchange.body for _ in range(3)]
    assert bodies == ["1", "2", "2"]


def test_a_request_without_a_record_is_held_back_and_named():
    answer = Answers([got()]).take("POST", "http://a.test/")
    assert answer.exchange is None
    assert answer.remark == "POST http://a.test/ was not recorded; it was blocked."


def test_what_is_sent_tells_requests_of_one_url_apart():
    first, second = hash_of(b"a=1"), hash_of(b"a=2")
    answers = Answers([got(method="POST", sent=first, body="1"), got(method="POST", sent=second, body="2")])
    assert answers.take("POST", "http://a.test/", second).exchange.body == "2"
    assert answers.take("POST", "http://a.test/", first).exchange.body == "1"


def test_another_content_gets_the_answer_of_its_url_and_that_is_said():
    answer = Answers([got(method="POST", sent="x", body="1")]).take("POST", "http://a.test/", "y")
    assert answer.exchange.body == "1"
    assert "sent other data than recorded" in answer.remark


def test_parameters_that_change_by_themselves_do_not_count_and_that_is_said():
    answers = Answers([got("http://a.test/?q=1&t=5", body="1")], stable=STABLE)
    answer = answers.take("GET", "http://a.test/?q=1&t=6")
    assert answer.exchange.body == "1"
    assert answer.remark == "GET http://a.test/?q=1&t=6 got the recorded answer to http://a.test/?q=1&t=5."
    assert answers.take("GET", "http://a.test/?q=2&t=5").exchange is None


@pytest.mark.parametrize(
    ("recorded", "asked"),
    [("1700000000000", "1700000999999"), ("1700000000", "1700000009"), ("0.8374652345", "0.1234567890123")],
)
def test_a_request_that_has_the_time_in_it_gets_its_answer_at_another_time(recorded, asked):
    answers = Answers([got(f"http://a.test/?q=1&t={recorded}", body="1")], stable=load_volatile().url)
    assert answers.take("GET", f"http://a.test/?q=1&t={asked}").exchange.body == "1"
    assert answers.take("GET", "http://a.test/?q=1&t=12").exchange is None


def test_fragments_never_count():
    assert Answers([got("http://a.test/#a", body="1")]).take("GET", "http://a.test/#b").exchange.body == "1"


def test_what_had_not_changed_gets_the_content_that_came_before():
    recorded = [got(body="1"), got(body="2"), got(status=206, body="part"), got(status=204), got(status=304)]
    answers = Answers(recorded)
    given_back = [answers.take("GET", "http://a.test/").exchange for _ in range(6)]
    assert [(one.status, one.body) for one in given_back] == [
        (200, "1"),
        (200, "2"),
        (206, "part"),
        (204, ""),
        (200, "2"),
        (200, "2"),
    ]


def test_what_had_not_changed_since_before_the_recording_is_missing():
    answer = Answers([got("http://a.test/other", body="1"), got(status=304)]).take("GET", "http://a.test/")
    assert "not in the recording" in answer.exchange.missing


def test_a_way_of_redirects_is_followed_to_its_end():
    answers = Answers(
        [
            to("http://a.test/1", "/2"),
            to("http://a.test/2", "http://b.test/3"),
            got("http://b.test/3", body="3"),
        ]
    )
    first = answers.take("GET", "http://a.test/1").exchange
    assert answers.follow(first).exchange.body == "3"


def test_a_redirect_after_sending_is_followed_by_a_reading_request_and_307_repeats_the_method():
    answers = Answers(
        [
            to("http://a.test/p", "/q", 303, "POST"),
            got("http://a.test/q", body="q"),
            to("http://a.test/r", "/s", 307, "POST"),
            got("http://a.test/s", body="s", method="POST"),
        ]
    )
    assert answers.follow(answers.take("POST", "http://a.test/p").exchange).exchange.body == "q"
    assert answers.follow(answers.take("POST", "http://a.test/r").exchange).exchange.body == "s"


def test_a_circle_of_redirects_ends():
    answers = Answers([to("http://a.test/1", "/2"), to("http://a.test/2", "/1")])
    answer = answers.follow(answers.take("GET", "http://a.test/1").exchange)
    assert answer.exchange is None
    assert "in a circle" in answer.remark


def test_sockets_are_no_answers():
    socket = Exchange(method="GET", url="ws://a.test/", kind=SOCKET)
    assert Answers([socket]).take("GET", "ws://a.test/").exchange is None


@given(st.lists(st.tuples(st.sampled_from("GP"), st.sampled_from("abc"), st.sampled_from("xy")), max_size=20))
def test_a_run_that_asks_as_recorded_gets_exactly_what_was_recorded(asked):
    exchanges = [
        got(f"http://a.test/{path}", method={"G": "GET", "P": "POST"}[method], sent=sent, body=str(index))
        for index, (method, path, sent) in enumerate(asked)
    ]
    answers = Answers(exchanges)
    given_back = [answers.take(one.method, one.url, one.sent) for one in exchanges]
    assert [one.exchange.body for one in given_back] == [one.body for one in exchanges]
    assert not any(one.remark for one in given_back)
