import http.client
from urllib.parse import urlsplit

import pytest


def ask(origin: str, path: str, method: str = "GET") -> tuple[int, bytes, str]:
    connection = http.client.HTTPConnection(urlsplit(origin).netloc, timeout=5)
    try:
        connection.putrequest(method, path, skip_accept_encoding=True)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers.get("Content-Type", "")
    finally:
        connection.close()


def test_a_file_is_served_with_its_type(site):
    (site.root / "a b.html").write_text("<p>é", encoding="utf-8")
    status, body, kind = ask(site.origin, "/a%20b.html?seed=1")
    assert (status, body.decode(), kind) == (200, "<p>é", "text/html; charset=utf-8")


def test_it_listens_on_the_loopback_address_only(site):
    assert urlsplit(site.origin).hostname == "127.0.0.1"


def test_folders_are_not_listed(site):
    (site.root / "sub").mkdir()
    (site.root / "sub" / "secret.html").write_text("x")
    assert [ask(site.origin, path)[0] for path in ("/", "/sub", "/sub/")] == [404, 404, 404]


@pytest.mark.parametrize(
    "path",
    [
        "/../outside.txt",
        "/%2e%2e/outside.txt",
        "/..%2foutside.txt",
        "/x/../../outside.txt",
        "/..\\outside.txt",
    ],
)
def test_no_path_leaves_the_root(site, path):
    (site.root.parent / "outside.txt").write_text("secret")
    assert ask(site.origin, path)[0] == 404


def test_a_link_out_of_the_root_is_not_followed(site):
    (site.root.parent / "outside.txt").write_text("secret")
    (site.root / "link.txt").symlink_to(site.root.parent / "outside.txt")
    assert ask(site.origin, "/link.txt")[0] == 404


def test_a_null_byte_in_the_path_is_not_found(site):
    assert ask(site.origin, "/a%00b")[0] == 404


def test_only_reading_is_answered(site):
    assert ask(site.origin, "/", "POST")[0] == 501


def test_head_sends_no_body(site):
    (site.root / "a.txt").write_text("abc")
    assert ask(site.origin, "/a.txt", "HEAD")[:2] == (200, b"")


def test_after_closing_the_port_is_free_and_the_next_use_starts_anew(site):
    (site.root / "a.txt").write_text("abc")
    first = site.origin
    site.close()
    with pytest.raises(OSError):
        ask(first, "/a.txt")
    assert ask(site.origin, "/a.txt")[0] == 200


def test_closing_twice_does_nothing(site):
    _ = site.origin
    site.close()
    site.close()


def status_of(origin: str, *, host: str, **headers: str) -> int:
    connection = http.client.HTTPConnection(urlsplit(origin).netloc, timeout=5)
    try:
        connection.request("GET", "/page.html", headers={"Host": host, **headers})
        return connection.getresponse().status
    finally:
        connection.close()


def test_only_requests_to_its_own_address_are_answered(site):
    (site.root / "page.html").write_text("x")
    port = urlsplit(site.origin).port
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LocalHost:{port}", f"[::1]:{port}"):
        assert status_of(site.origin, host=host) == 200
    for host in (
        "rebound.example",
        f"rebound.example:{port}",
        "127.0.0.1",
        f"127.0.0.1:{port + 1}",
        "",
        "localhost.",
    ):
        assert status_of(site.origin, host=host) == 403


def test_a_page_of_another_origin_is_refused(site):
    (site.root / "page.html").write_text("x")
    port = urlsplit(site.origin).port
    own = f"127.0.0.1:{port}"
    for origin in (f"http://{own}", f"http://localhost:{port}"):
        assert status_of(site.origin, host=own, Origin=origin) == 200
    for origin in (
        "null",
        "https://page.example",
        "http://127.0.0.1",
        f"http://127.0.0.1:{port + 1}",
        f"https://{own}",
    ):
        assert status_of(site.origin, host=own, Origin=origin) == 403
