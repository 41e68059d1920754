"""The environment that an attached program is started with."""

from pathlib import Path

from core.attach.addresses import Addresses, environment_of
from core.attach.clock import HeldClock
from core.attach.stand_in import StandIn

ADDRESSES = Addresses(llm="http://127.0.0.1:9/v1", key="k", browser="http://127.0.0.1:9/cdp/t", sdk="s")


def test_every_client_of_openai_is_told_of_the_gateway_and_of_nothing_else(tmp_path: Path) -> None:
    given = {"OPENAI_API_BASE": "https://api.openai.com/v1", "HOME": str(tmp_path)}
    clock = HeldClock(tmp_path / "clock")
    stand_in = StandIn(tmp_path / "browsers", ADDRESSES.browser, given)
    told = environment_of(ADDRESSES, clock, stand_in, instruction="Buy tea", url="about:blank", given=given)
    clock.close()
    assert told["OPENAI_BASE_URL"] == told["OPENAI_API_BASE"] == ADDRESSES.llm
    assert told["OPENAI_API_KEY"] == "k"
    assert told["OPENAI_AGENTS_DISABLE_TRACING"] == "1"
