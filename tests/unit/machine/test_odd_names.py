"""Names that are no text, in what gitrag writes for its user."""

from __future__ import annotations

import os

from gitrag.machine.files import write_private
from gitrag.machine.log import close_log, open_log


def test_a_log_and_a_note_quote_a_name_that_is_no_text(tmp_path):
    """In strict UTF-8 the line would be lost, and the note a bug."""
    name = os.fsdecode(b"caf\xe9.py")
    write_private(tmp_path / "told", name)
    open_log(tmp_path).error("cannot read %s", name)
    close_log()
    assert (tmp_path / "told").read_text("utf-8") == "caf\\udce9.py"
    assert "cannot read caf\\udce9.py\n" in (tmp_path / "log").read_text("utf-8")
