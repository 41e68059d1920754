"""What a test of an LLM finds out, at servers that honour much, little and nothing."""

import base64
import io
import json
from dataclasses import dataclass

import pytest
from PIL import Image as Picture

from core.llm.honoured import Honoured, HonouredFile
from core.llm.probes import _COLOURS, Prober, in_words
from core.schema.errors import LLMError
from tests.core.llm.asking import make
from tests.llm_server import Call, Reply, Request, call

NUMBERS = "one two three four five six seven eight nine ten eleven twelve"


@dataclass(frozen=True)
class Server:
    """Answers the questions of a test, as good as it can."""

    keeps_to: tuple[str, ...] = ("json_schema", "json_object")
    """The types of response_format whose schema it keeps to."""
    takes: tuple[str, ...] = ("json_schema", "json_object")
    """Those that it does not refuse."""
    calls: str = "forced"
    sees: str = "seen"
    streams: bool = True
    counts: bool = True

    def __call__(self, request: Request) -> Reply:
        more = {"whole": not self.streams, **({} if self.counts else {"usage": None})}
        text = request.texts[-1]
        if "five hundred" in text:
            return Reply(text=NUMBERS, hold_after=3, **more)
        if request.tool_names:
            return self._called(request, more)
        if isinstance(request.body["messages"][-1]["content"], list):
            if self.sees == "no":
                return _refusal(500, "image input is not supported - you may need to provide the mmproj")
            return Reply(text=_colour(request) if self.sees == "seen" else "mauve", **more)
        if form := request.body.get("response_format"):
            return self._formed(form, more)
        return Reply(text='{"kind": "golden"}' if "JSON" in text else NUMBERS, **more)

    def _called(self, request: Request, more) -> Reply:
        told = "call the tool" in request.texts[-1]
        forced = request.body["tool_choice"] == "required"
        if (self.calls == "forced" and forced) or (self.calls in ("forced", "offered") and told):
            return Reply(calls=(call("switch_lamp", on=True),), **more)
        return Reply(
            calls=(Call("switch_lamp", "{"),) if self.calls == "broken" else (), text="Hello.", **more
        )

    def _formed(self, form, more) -> Reply:
        if form["type"] not in self.takes:
            return _refusal(400, f"response_format.type: Input should be {' or '.join(self.takes)}")
        schema = form.get("json_schema", form).get("schema")
        if form["type"] in self.keeps_to and schema is not None:
            kinds = schema["properties"]["kind"]["enum"]
            return Reply(text=json.dumps({"kind": kinds[0], "count": 4}), **more)
        return Reply(text='{"fruit": "apple"}' if form["type"] == "json_object" else "An apple.", **more)


def _refusal(status: int, message: str) -> Reply:
    return Reply(status=status, body=json.dumps({"error": {"message": message}}))


def _colour(request: Request) -> str:
    url = request.body["messages"][-1]["content"][-1]["image_url"]["url"]
    picture = Picture.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))
    return next(name for name, rgb in _COLOURS.items() if picture.getpixel((3, 3)) == rgb)


async def probed(llm_server, server: Server, **more) -> Honoured:
    llm_server.otherwise = server
    llm = make(llm_server, images=True, attempts=1, **more)
    try:
        return await Prober(llm, lambda what: None).probe()
    finally:
        await llm.close()


async def test_a_server_that_honours_everything_is_found_to(llm_server):
    found = await probed(llm_server, Server())
    assert (found.schema_level, found.tools, found.images) == ("strict", "forced", "seen")
    assert (found.streams, found.counts) == (True, True)
    assert found.next_after_cancel is not None
    assert found.tested > 0
    assert llm_server.disconnects >= 1
    words = in_words(found)
    assert (
        "calls a tool when forced to; follows a strict JSON schema; sees pictures; streams; counts tokens"
        in words
    )
    assert 'reply_format = "auto" ask it for tools' in words


@pytest.mark.parametrize(
    ("server", "expected", "form"),
    [
        # llama.cpp's server: schema kept, tools not forced
        (Server(calls="no", sees="no"), {"schema_level": "strict", "tools": "no", "images": "no"}, "json"),
        # llama-cpp-python: no json_schema, but json_object with a schema
        (
            Server(takes=("text", "json_object"), calls="no", sees="taken"),
            {"schema_level": "object with schema", "images": "taken"},
            "json",
        ),
        # the server of transformers: takes everything, keeps to nothing
        (
            Server(keeps_to=(), calls="broken", sees="taken", counts=False),
            {"schema_level": "object", "tools": "no", "counts": False},
            "lines",
        ),
        (Server(takes=(), calls="offered", streams=False), {"tools": "offered", "streams": False}, "tools"),
    ],
)
async def test_what_a_server_lacks_is_found_and_the_reply_format_follows(llm_server, server, expected, form):
    found = await probed(llm_server, server)
    assert {name: getattr(found, name) for name in expected} == expected
    assert found.reply_format == form
    assert f"ask it for {form}." in in_words(found)


async def test_a_new_test_forgets_what_was_refused_before(llm_server, tmp_path):
    kept = HonouredFile(tmp_path / "llm-servers.json")
    before = Honoured(schema_level="none", given_up=("images", "seed"), tools="no", tested=1.0)
    kept.keep(llm_server.base_url, "test-model", before)
    found = await probed(llm_server, Server(), kept=kept)
    assert found.schema_level == "strict"
    assert found.given_up == ()
    assert HonouredFile(tmp_path / "llm-servers.json").of(llm_server.base_url, "test-model") == found


async def test_one_odd_reply_lowers_no_level_in_a_test(llm_server):
    honest, odd = Server(), [Reply(text=""), Reply(text="I cannot do that.", refuses=True)]

    def answer(request: Request) -> Reply:
        if request.body.get("response_format") and odd:
            return odd.pop()
        return honest(request)

    found = await probed(llm_server, answer)
    assert found.schema_level == "schema"
    del odd[:]
    odd.append(Reply(text=""))
    found = await probed(llm_server, answer)
    assert found.schema_level == "strict"


async def test_what_is_asked_for_is_told_on_the_way_and_what_it_took_is_counted(llm_server):
    llm_server.otherwise = Server()
    llm = make(llm_server, images=True, attempts=1)
    told: list[str] = []
    prober = Prober(llm, told.append)
    await prober.probe()
    await llm.close()
    assert told == [
        "a plain reply",
        "a reply by a JSON schema",
        "a tool call",
        "a picture",
        "a reply that is cancelled",
    ]
    assert prober.tokens == 110 * 5


async def test_a_server_that_answers_nothing_ends_the_test(llm_server):
    llm = make(llm_server, attempts=1)
    with pytest.raises(LLMError, match="no reply is scripted"):
        await Prober(llm, lambda what: None).probe()
    await llm.close()


def test_a_model_that_was_never_tested_is_asked_for_tools():
    assert Honoured().reply_format == "tools"
    assert Honoured(schema_level="none", given_up=("images",)).reply_format == "tools"
