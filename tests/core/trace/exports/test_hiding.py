"""Copies of runs without secrets, whatever shows them to be secret."""

import json

from core.schema.events import LogLine
from core.trace.exports.json_export import export_json
from tests.core.trace.making import page, start, write_step


def test_a_token_gets_no_name_that_stands_for_another_one_in_the_trace(store):
    run = store.begin_run(start())
    store.save_log(run, LogLine(time=1.0, source="page", text='{"access_token": "first-token-1"}'))
    write_step(store, run, 1, observation=page("Save", url="http://x/?access_token=second-token-2"))
    exported = json.loads(export_json(store, run))
    assert exported["log"][0]["text"] == '{"access_token": "removed-token-1"}'
    assert exported["steps"][0]["url"] == "http://x/?access_token=removed-token-2"
    assert exported["left_out"] == "2 tokens were left out."
