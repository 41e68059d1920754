import pytest

from core.sandbox.running import code_in


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("obs = 'x'\n", "obs = 'x'"),
        ("Here it is:\n```python\nobs = 'x'\n```\nThat is all.", "obs = 'x'"),
        ("```\nobs = 1\n```\nBetter:\n```py\nobs = 'x'\n```", "obs = 'x'"),
        ("```python\nobs = 'cut sho", "obs = 'cut sho"),
        ("````python\nobs = '''\n```\n'''\n````", "obs = '''\n```\n'''"),
        ("~~~\nif state:\n    obs = 'x'\n~~~", "if state:\n    obs = 'x'"),
        ("````\n```\nobs = 'x'\n```", "obs = 'x'"),
        ("obs = 'x'\n```", "obs = 'x'\n```"),
        ("", ""),
    ],
)
def test_the_code_of_a_reply_is_its_last_fenced_block_or_all_of_it(reply, code):
    assert code_in(reply) == code
