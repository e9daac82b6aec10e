"""The page's server in this process: it ends by itself."""

from __future__ import annotations

import http.client
import threading
from contextlib import closing
from urllib.parse import urlsplit

from gitrag.web.desk import Desk
from gitrag.web.server import serve
from tests.support.command import PATIENCE_S
from tests.support.indexes import open_app


def test_it_ends_where_nobody_uses_it(make_repository):
    repository = make_repository({"a.py": "x = 1\n"})
    open_app(repository).update()
    addresses, ended = [], []
    ready = threading.Event()

    def run():
        with closing(Desk(repository.path, repository.environment)) as desk:
            ended.append(serve(desk, 0, lambda address: (addresses.append(address), ready.set()), idle_s=2.0))

    serving = threading.Thread(target=run, daemon=True)
    serving.start()
    assert ready.wait(PATIENCE_S)
    address = urlsplit(addresses[0])
    connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=PATIENCE_S)
    connection.request("GET", f"/?{address.query}")
    assert connection.getresponse().status == 200
    connection.close()
    serving.join(PATIENCE_S)
    assert ended == [True]
