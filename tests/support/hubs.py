"""Repositories that are pushed to a hub, and the roles of a server."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import psycopg

from gitrag.actions.hub.push import push_head
from gitrag.hub.sending import Pushed
from gitrag.workspace import Workspace
from tests.support.repository import GitRepository


def opened(git: GitRepository, address: str, model_dir: Path) -> Workspace:
    """Open a repository, with a hub set."""
    environment = git.environment | {"GITRAG_HUB": address, "GITRAG_MODEL_DIR": str(model_dir)}
    return Workspace.open(git.path, environ=environment)


def pushed(git: GitRepository, address: str, model_dir: Path, **options: Any) -> Pushed:
    """Index HEAD and push it."""
    workspace = opened(git, address, model_dir)
    workspace.update()
    return push_head(workspace, **options)


def make_role(address: str, *, password: str | None = None) -> str:
    """Make a role that may log in, and nothing else; return its name."""
    name = f"r_{secrets.token_hex(5)}"
    with psycopg.connect(address, autocommit=True) as db:
        db.execute(f"CREATE ROLE {name} LOGIN" + (f" PASSWORD '{password}'" if password else ""))
    return name


def as_role(address: str, role: str) -> str:
    """Return an address for another role."""
    return address.replace("//owner@", f"//{role}@")


def rows(address: str, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
    """Run a statement as the role of an address."""
    with psycopg.connect(address, autocommit=True) as db:
        cursor = db.execute(sql, parameters)
        return cursor.fetchall() if cursor.description else []


SAMPLE: Mapping[str | bytes, str] = {
    "src/client.py": dedent(
        '''
        """Send requests."""

        RETRIES = 3


        class Client:
            """Talks to a server."""

            def send(self, request):
                """Send a request, retrying with backoff."""
                for attempt in range(RETRIES):
                    self.wait(attempt)
                return request

            def wait(self, attempt):
                """Sleep longer after each failed attempt."""
                return 2**attempt
        '''
    ).lstrip(),
    "src/__init__.py": "from .client import Client as Client\n\n__all__ = ['Client']\n",
    "src/parse.py": dedent(
        '''
        def parse_config(text):
            """Read settings from a file."""
            return dict(line.split("=") for line in text.splitlines())
        '''
    ).lstrip(),
    "web/router.ts": dedent(
        """
        export class Router {
          // match a path against the routes
          match(path: string) {
            return this.routes.find((r) => r.path === path);
          }
        }
        """
    ).lstrip(),
    "web/index.ts": "export { Router } from './router';\n",
    "tests/test_client.py": "def test_send_retries():\n    assert True\n",
    "docs/adr/0001-retry.md": dedent(
        """
        # 1. Retry with backoff

        ## Status

        Accepted

        ## Decision

        Requests are retried three times, waiting longer each time.
        """
    ).lstrip(),
    "data/naïve file.json": '{"retries": 3}\n',
}
"""Files of a small project in several languages."""
