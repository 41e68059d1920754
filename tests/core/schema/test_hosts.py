from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.schema.hosts import in_site, is_near, place_of, site_of

NAMES = st.text(ascii_lowercase + "0123456789-", min_size=1, max_size=12)


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.9.9.9", "0.0.0.0", "[::1]", "::1"),
        *("10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "fd00:ec2::254"),
        *(
            "fe80::1%eth0",
            "::ffff:127.0.0.1",
            "::ffff:a9fe:a9fe",
            "2002:7f00:1::",
            "metadata.google.internal",
        ),
        *("printer.local", "nas.lan", "router.home.arpa", "intranet.corp"),
    ],
)
def test_a_host_of_this_machine_or_its_network_is_near(host):
    assert is_near(host)


@pytest.mark.parametrize(
    "host", ["example.org", "8.8.8.8", "2001:4860:4860::8888", "localhost.example.org", "x", ""]
)
def test_any_other_host_is_not_near(host):
    assert not is_near(host)


@given(NAMES, NAMES)
def test_a_host_is_in_its_own_site_and_in_those_above_it_alone(name, below):
    assert in_site(f"{name}.org", f"{name}.org")
    assert in_site(f"{below}.{name}.org", f"{name}.org")
    assert not in_site(f"{below}{name}.org", f"{name}.org")
    assert not in_site(f"{name}.org", f"{below}.{name}.org")


def test_an_ip_address_has_no_hosts_below_it():
    assert in_site("10.0.0.1", "10.0.0.1")
    assert not in_site("1.10.0.0.1", "10.0.0.1")


@pytest.mark.parametrize(
    ("url", "place", "site"),
    [
        ("https://www.example.org/a", "www.example.org:443", "example.org"),
        ("http://EXAMPLE.org.:80/", "example.org:80", "example.org"),
        ("http://127.0.0.1:8000/x", "127.0.0.1:8000", "127.0.0.1:8000"),
        ("http://[::1]:9/", "::1:9", "::1:9"),
    ],
)
def test_an_address_has_a_place_and_a_site(url, place, site):
    assert (place_of(url), site_of(url)) == (place, site)
