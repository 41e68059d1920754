"""The server as a coding agent uses it: a process on stdin and stdout, or on a port."""

import json
import re
import signal
import socket
import subprocess
from contextlib import contextmanager

import anyio
import anyio.to_thread
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from core.storage.resources import RESOURCES
from tests.core.debugger.evaluations.carrying_out import carry_out
from tests.core.mcp.conftest import RIGHT, SPACE, TASK, WRONG, server_words, stdio_client, told
from tests.llm_server import Reply

pytestmark = [pytest.mark.browser, pytest.mark.program]


async def test_a_failed_run_is_made_found_and_continued_and_its_fix_is_proven_and_kept(inside, cli):
    space = cli.config / SPACE
    space.parent.mkdir()
    space.write_text(_space(WRONG))
    lines = []

    async def progress(number, total, message):
        lines.append(message)

    async with stdio_client(cli, "--allow-keep") as client:
        failed = told(await client.call_tool("run_task", TASK, progress_callback=progress))
        assert (failed["success"], failed["steps"]) == (False, 4)
        assert sum(line.startswith("step ") for line in lines) == 4
        (found,) = told(await client.call_tool("list_runs", {"outcome": "no success"}))["runs"]
        cause = told(await client.call_tool("causes", {"run": found["run"]}))["causes"][0]
        assert (cause["kind"], cause["patch"]["put"].count(RIGHT[9:-2])) == ("macro", 1)
        text = told(await client.call_tool("read_file", {"name": cause["file"], "where": "text"}))["part"]
        assert "[[state]]" in text

        space.write_text(_space(RIGHT))
        again = {"run": found["run"], "step": cause["step"], "amount": ["memory=2"]}
        branch = told(await client.call_tool("fork_run", again, progress_callback=progress))
        assert branch["success"] is True
        assert any(line.startswith("Back at step 3") for line in lines)
        both = {"left": found["run"], "right": branch["run"]}
        compared = told(await client.call_tool("compare_runs", both))
        assert compared["right"]["parent_run"] == found["run"]
        space.write_text(_space(WRONG))

        block = "\n<<<<<<< SEARCH\nno such line\n=======\nx\n>>>>>>> REPLACE\n"
        wrong = {"run": failed["run"], "edits": f"{SPACE}{block}presets/plain.toml{block}"}
        refused = await client.call_tool("prove_change", wrong)
        assert refused.is_error
        why = refused.content[0].text.splitlines()
        assert [line.partition(": The searched text is not there")[0] for line in why] == [
            SPACE,
            "presets/plain.toml",
        ]
        asked = {"run": failed["run"], "name": "mine", "pairs": 5, "sealed": 1}
        begun = told(await client.call_tool("prove_change", {**asked, "max_calls": 1}))["repairs"][0]
        assert begun["candidates"][0]["outcome"] == "inconclusive"
        keep = {"run": failed["run"], "name": begun["name"]}
        assert told(await client.call_tool("keep_change", keep))["kept"] == []
        carry_out(cli.db, begun["name"])
        best = told(await client.call_tool("prove_change", asked))["repairs"][0]["candidates"][0]
        assert best["outcome"] == "proven"
        assert best["sentence"].startswith("unchanged 0 of 5, changed 5 of 5, sealed 1 of 1")
        assert space.read_text() == _space(WRONG)
        assert told(await client.call_tool("keep_change", keep))["kept"] == [str(space)]
    assert space.read_text() == _space(RIGHT)
    printed = inside("show", branch["run"], "--json").json
    for name in ("run", "task", "outcome", "answer", "error", "steps", "llm_calls"):
        assert branch[name] == printed[name]


def _space(line):
    return (RESOURCES / SPACE).read_text().replace(RIGHT, line)


async def test_a_call_that_is_cancelled_ends_its_run_in_order(cli, llm_server):
    llm_server.script(Reply(hold=True))  # It has asked with the key, which the server has handed on.
    async with stdio_client(cli, llm="test-model") as client:
        async with anyio.create_task_group() as calls:
            calls.start_soon(client.call_tool, "run_task", {"task": "miniwob/click-test-2"})
            await anyio.to_thread.run_sync(llm_server.wait_for_requests, 1)
            calls.cancel_scope.cancel()
        await anyio.to_thread.run_sync(llm_server.wait_for_disconnects)
        with anyio.fail_after(60):
            while (run := told(await client.call_tool("read_run", {"run": 1})))["outcome"] == "running":  # noqa: ASYNC110
                await anyio.sleep(0.05)
    assert (run["outcome"], run["error"]) == ("interrupted", "Interrupted.")


def test_a_signal_ends_the_server_though_stdin_stays_open_and_stdout_has_only_the_protocol(cli):
    process = cli.start(*server_words(), stdin=subprocess.PIPE)
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    process.stdin.write(
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}) + "\n"
    )
    process.stdin.flush()
    first = process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 130
    assert [json.loads(line)["id"] for line in (first, *process.stdout)] == [1]
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


@contextmanager
def http_server(cli, *words):
    """Give the address and the token that ``main.py mcp --http`` prints."""
    process = cli.start(*server_words(), "--http", *words)
    try:
        address = re.search(r"at (http://127\.0\.0\.1:\d+/mcp)$", process.stderr.readline().rstrip())[1]
        token = process.stderr.readline().removeprefix("Token: ").rstrip()
        assert process.stderr.readline() == (
            f'claude mcp add --transport http backstep {address} --header "Authorization: Bearer {token}"\n'
        )
        yield address, token
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "Interrupted.\n")


def with_token(token):
    return httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60)


async def test_over_http_only_programs_with_the_token_are_answered(cli):
    with http_server(cli) as (address, token):
        async with (
            with_token(token) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            assert "causes" in [tool.name for tool in (await client.list_tools()).tools]
            assert told(await client.call_tool("list_files"))["files"]
        right = {"Authorization": f"Bearer {token}"}
        port = address.rpartition(":")[2].removesuffix("/mcp")
        async with httpx2.AsyncClient() as http:
            for headers, status in (
                ({}, 401),
                ({"Authorization": "Bearer x"}, 401),
                ({"Authorization": token}, 401),
                ({**right, "Host": f"example.com:{port}"}, 403),
                ({**right, "Origin": "https://example.com"}, 403),
                ({**right, "Sec-Fetch-Site": "cross-site"}, 403),
            ):
                answer = await http.post(address, headers=headers, json={"jsonrpc": "2.0"})
                assert (answer.status_code, headers) == (status, headers)


def test_a_token_of_the_environment_is_used_and_not_printed(cli):
    cli.environment["BACKSTEP_MCP_TOKEN"] = "chosen-by-the-user"
    process = cli.start(*server_words(), "--http")
    lines = [process.stderr.readline() for _ in range(3)]
    address = re.search(r"http://\S+", lines[0])[0]
    refused = httpx2.post(address, headers={"Authorization": "Bearer chosen-by-the-user"}, json={})
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert "chosen-by-the-user" not in "".join(lines)
    assert refused.status_code == 400  # It came through to the protocol.


def test_a_port_that_is_taken_and_a_port_without_http_are_told_in_one_sentence(inside):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = inside(*server_words(), "--http", "--port", port)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(f"Port {port} cannot be used on this machine: ")
    assert inside("mcp", "--port", 5).err.startswith("Use --http with --port")
