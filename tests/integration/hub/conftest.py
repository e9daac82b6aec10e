"""A hub that the tests of one module share."""

import pytest

from tests.support.postgres import Server


@pytest.fixture(scope="module")
def module_hub(postgres: Server, empty_hub: str) -> str:
    """The address of a hub, made."""
    return postgres.new_database(empty_hub)
