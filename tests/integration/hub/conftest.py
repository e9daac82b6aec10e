"""A hub that the tests of one module share."""

import secrets

import psycopg
import pytest

from gitrag.hub.hub import initialise
from gitrag.indexing.recipe import RECIPE
from tests.support.postgres import Server


@pytest.fixture(scope="module")
def module_hub(postgres: Server) -> str:
    """The address of a hub, made."""
    name = f"hub_{secrets.token_hex(6)}"
    with psycopg.connect(postgres.address(), autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name}")
    address = postgres.address(database=name)
    initialise(address, RECIPE, partitions=2)
    return address
