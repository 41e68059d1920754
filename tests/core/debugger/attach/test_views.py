"""What is asked for when an agent is attached, and what is stored of it."""

import pytest

from core.debugger.attach.views import AttachRequest


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        (
            ("env", "GROQ_API_KEY=gsk_1a2b3c", "python", "a.py"),
            ("env", "GROQ_API_KEY=[key]", "python", "a.py"),
        ),
        (("a", "--api-key", "gsk_1a2b3c", "--fast"), ("a", "--api-key", "[key]", "--fast")),
        (("a", "--token=abc def"), ("a", "--token=[key]")),
        (("a", "--token", "--fast", "sk-0123456789abcdefgh"), ("a", "--token", "--fast", "[key]")),
        (("sh", "-c", "TOKEN='ab cd' python a.py"), ("sh", "-c", "TOKEN=[key]")),
        (("a", '{"api_key": "4711"}', "X-Api-Key: 4711"), ("a", '{"api_key": [key]', "X-Api-Key: [key]")),
    ],
)
def test_a_secret_in_the_command_is_not_kept(command, kept) -> None:
    assert AttachRequest(command=command).kept.command == kept


def test_a_command_without_secrets_is_kept_as_it_is() -> None:
    command = (
        "python",
        "my_agent.py",
        "--max-tokens",
        "500",
        "--model=gpt-4o",
        "http://localhost:80/?page=2",
        "A=1",
    )
    request = AttachRequest(command=command, env=("GROQ_API_KEY",))
    assert request.kept == request


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("python /home/me/my_agent.py --token abc", "my_agent.py"),
        ("env TOKEN=a/b.py node agent.mjs", "agent.mjs"),
        ("/opt/agents/buyer --fast", "buyer"),
        ("A=1", "a program"),
    ],
)
def test_a_program_is_called_by_its_script_or_by_its_own_name(command: str, name: str) -> None:
    assert AttachRequest(command=tuple(command.split())).program == name
