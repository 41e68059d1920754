"""Prompts that ask the same, though a program has made some of their words anew."""

import pytest

from core.trace.prompt_words import lasting


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("Today: 2026-11-22 10:41", "Today: 2026-11-23 09:02"),
        ("[Snapshot](page-2026-11-23T13-04-35-268Z.yml)", "[Snapshot](page-2026-11-23T13-04-50-549Z.yml)"),
        ("call_9db1334e31eb", "call_0a77"),
        ("/tmp/run-1/a.txt was read in 1.2 s", "/tmp/run-2/b.txt was read in 13 ms"),
        ("2 iframes, 66 total elements", "2 iframes, 71 total elements"),
        ("http://127.0.0.1:4000/", "http://127.0.0.1:5000/"),
    ],
)
def test_what_is_made_anew_each_time_does_not_count(first: str, again: str) -> None:
    assert lasting(first) == lasting(again)


@pytest.mark.parametrize(
    ("first", "again"),
    [("button [8]", "button [9]"), ("$12.00", "$9.50"), ("66 links", "71 links"), ("0-11", "0-12")],
)
def test_what_a_page_shows_does(first: str, again: str) -> None:
    assert lasting(first) != lasting(again)
