"""``gitrag model``: fetch, status."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gitrag.cli.frame import Example, command, group, json_option
from gitrag.cli.session import Session, pass_session
from gitrag.cli.terminal import Terminal
from gitrag.errors import NOTHING, OK, RepositoryError
from gitrag.words.numbers import size

if TYPE_CHECKING:
    from gitrag.embedding.local_model import ModelFetch


@group(
    "model",
    examples=[
        Example("gitrag model fetch", "download, verify and convert it, once for all repositories"),
        Example("gitrag model status", "is it there, and whole?"),
    ],
)
def model() -> None:
    """Fetch the embedding model, or show its state.

    all-MiniLM-L6-v2 turns texts into vectors. It lies in your cache directory, one for all repositories, or
    where GITRAG_MODEL_DIR says.
    """


@command("fetch", examples=[Example("gitrag model fetch", "nothing happens when it is there")])
@click.option("--keep-weights", is_flag=True, help="Keep the published weights too (91 MB).")
@json_option
@pass_session
def fetch(session: Session, *, keep_weights: bool) -> int:
    """Download the model, verify it, and convert it to what this machine runs best."""
    from gitrag.actions.model import fetch_model

    terminal = session.terminal
    directory, own = place_of(session)
    done = fetch_model(directory, terminal.progress, own, keep_weights=keep_weights)
    if not terminal.answered(done):
        say_fetched(done, terminal)
    return OK


@command(
    "status",
    examples=[
        Example("gitrag model status", "where it is"),
        Example("gitrag model status --json", "for programs"),
    ],
)
@json_option
@pass_session
def status(session: Session) -> int:
    """Say whether the model is there and whole. Exit status 1 when it is not."""
    from gitrag.embedding import local_model

    found = local_model.status(*place_of(session))
    if session.terminal.is_json:
        session.terminal.print_document(found)
    elif found.ready:
        name = "Your model" if found.own else "all-MiniLM-L6-v2"
        taken = f" ({size(found.size_bytes)})" if found.size_bytes else ""
        session.terminal.print(f"{name} is ready: {found.path}{taken}")
    else:
        session.terminal.print(found.problem)
    if not (session.terminal.is_json or found.ready or found.own):
        session.terminal.hint(f"gitrag model fetch   (downloads {size(local_model.DOWNLOAD_BYTES)}, once)")
    return OK if found.ready else NOTHING


def place_of(session: Session) -> tuple[Path, str]:
    """Say where the model lies, and which of the user's own stands for it, by the settings here."""
    from gitrag.embedding import local_model

    try:
        config = session.workspace().config
    except RepositoryError:
        config = session.config_outside()
    return local_model.model_directory(config.model_dir), config.model or ""


def say_fetched(fetched: ModelFetch, terminal: Terminal) -> None:
    """Say how long each step of fetching the model took, and where it is."""
    for step in fetched.steps:
        terminal.print(f"  {step.name}: {step.seconds:.1f} s")
    if fetched.size_bytes:
        taken = size(fetched.size_bytes)
        terminal.print(f"all-MiniLM-L6-v2 is ready: {fetched.path} ({taken}; {fetched.source})")
    else:
        terminal.print(f"Your model is ready: {fetched.path}")


for each in (fetch, status):
    model.add_command(each)
