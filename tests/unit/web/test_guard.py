"""Who is let in, request by request."""

from __future__ import annotations

import asyncio

import pytest

from gitrag.web.server import Guard

TOKEN, PORT = "a-long-token", 8321


def asked(*, query="", method="GET", clock=lambda: 0.0, **headers):
    """Return the status of an answer, and the guard."""
    sent = []

    async def inner(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"in"})

    async def send(message):
        sent.append(message)

    given = {"host": f"127.0.0.1:{PORT}", **headers}
    scope = {
        "type": "http",
        "method": method,
        "query_string": query.encode(),
        "headers": [
            (name.replace("_", "-").encode(), value.encode()) for name, value in given.items() if value
        ],
    }
    guard = Guard(inner, TOKEN, PORT, clock)
    asyncio.run(guard(scope, None, send))
    return sent[0]["status"], guard


COOKIE = f"gitrag-{PORT}={TOKEN}"


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ({}, 401),
        ({"query": f"token={TOKEN}"}, 200),
        ({"query": f"token={TOKEN}&token=x"}, 401),
        ({"query": "token="}, 401),
        ({"query": "token=%ff%00"}, 401),
        ({"query": "&".join(f"a{n}=1" for n in range(200)) + f"&token={TOKEN}"}, 401),
        ({"cookie": COOKIE}, 200),
        ({"cookie": f"other=1; {COOKIE}"}, 200),
        ({"cookie": f"gitrag-1={TOKEN}"}, 401),
        ({"cookie": f"gitrag-{PORT}={TOKEN}x"}, 401),
        ({"cookie": "="}, 401),
        ({"cookie": COOKIE, "host": ""}, 403),
        ({"cookie": COOKIE, "host": "127.0.0.1"}, 403),
        ({"cookie": COOKIE, "host": f"127.0.0.1.evil.example:{PORT}"}, 403),
        ({"cookie": COOKIE, "host": f"LOCALHOST:{PORT}"}, 200),
        ({"cookie": COOKIE, "origin": f"http://127.0.0.1:{PORT}"}, 200),
        ({"cookie": COOKIE, "origin": f"https://127.0.0.1:{PORT}"}, 403),
        ({"cookie": COOKIE, "origin": "http://127.0.0.1:1"}, 403),
        ({"cookie": COOKIE, "origin": "null"}, 403),
        ({"cookie": COOKIE, "sec_fetch_site": "same-origin"}, 200),
        ({"cookie": COOKIE, "sec_fetch_site": "none", "sec_fetch_dest": "document"}, 200),
        ({"cookie": COOKIE, "sec_fetch_site": "same-site", "sec_fetch_dest": "image"}, 403),
        ({"query": f"token={TOKEN}", "sec_fetch_site": "cross-site", "sec_fetch_dest": "document"}, 200),
        ({"query": f"token={TOKEN}", "sec_fetch_site": "cross-site", "sec_fetch_dest": "iframe"}, 403),
        ({"cookie": COOKIE, "method": "POST"}, 405),
        ({"cookie": COOKIE, "method": "HEAD"}, 200),
    ],
    ids=str,
)
def test_who_is_let_in(request_, status):
    assert asked(**request_)[0] == status


def test_an_open_page_that_looks_for_news_does_not_keep_it_alive():
    times = iter([1.0, 2.0])
    assert asked(cookie=COOKIE, clock=lambda: next(times))[1].last_used == 2.0
    times = iter([1.0, 2.0])
    assert asked(cookie=COOKIE, x_gitrag_live="1", clock=lambda: next(times))[1].last_used == 1.0
    times = iter([1.0, 2.0])
    assert asked(clock=lambda: next(times))[1].last_used == 1.0  # nor does who is refused
