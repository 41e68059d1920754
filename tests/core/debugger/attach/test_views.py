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
        (("env", "TOKEN=abc def", "a"), ("env", "TOKEN=[key]", "a")),
        (("a", "--token", "--fast", "sk-0123456789abcdefgh"), ("a", "--token", "--fast", "[key]")),
        (("sh", "-c", "TOKEN='ab cd' python a.py"), ("sh", "-c", "TOKEN='[key]' python a.py")),
        (("sh", "-c", "TOKEN=abc python a.py --pin 4"), ("sh", "-c", "TOKEN=[key] python a.py --pin 4")),
        (("sh", "-c", "a --api-key abc --fast"), ("sh", "-c", "a --api-key [key] --fast")),
        (
            ("a", '{"api_key": "471100"}', "X-Api-Key: 471100"),
            ("a", '{"api_key": "[key]"}', "X-Api-Key: [key]"),
        ),
        (('{\\"api_key\\": \\"471100\\"}',), ('{\\"api_key\\": \\"[key]\\"}',)),
        (("a", "-H", "Authorization: Bearer abc"), ("a", "-H", "Authorization: Bearer [key]")),
        (
            ("a", "--url=http://h/?api_key=zz&x=1", "http://u:pass@h/"),
            ("a", "--url=http://h/?api_key=[key]&x=1", "http://[key]@h/"),
        ),
        (("a", "--credentials=u:p", "--pw", "x"), ("a", "--credentials=[key]", "--pw", "[key]")),
        (("a", "--api-key", "-abc0123"), ("a", "--api-key", "[key]")),
    ],
)
def test_a_secret_in_the_command_is_not_kept(command, kept) -> None:
    stored = AttachRequest(command=command).kept
    assert (stored.command, stored.lacks_value, stored.kept) == (kept, True, stored)


def test_a_command_without_secrets_is_kept_as_it_is() -> None:
    command = (
        "python",
        "my_agent.py",
        "--max-tokens",
        "500",
        "--model=gpt-4o",
        "http://localhost:80/?page=2",
        "A=1",
        "Set the password: hunter2 in the form",
        "--password-file=/x",
        "--secret-store=vault",
        "--token-path",
        "/run/token",
        "--pin",
        "4",
        "--credentials=creds.json",
        "TOKEN=",
        "print(d[key], [key])",
    )
    request = AttachRequest(command=command, env=("GROQ_API_KEY",))
    assert request.kept == request
    assert not request.lacks_value


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
