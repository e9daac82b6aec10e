"""A git remote over ssh, of a real server on this machine, asked by the ssh that gitrag starts by itself."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator

import pytest

from gitrag.errors import NetworkError
from gitrag.git import remote_files
from tests.support.sharing import make_team

CONFIG = """
Port {port}
ListenAddress 127.0.0.1
HostKey {home}/host
PidFile none
AuthorizedKeysFile {home}/user.pub
PasswordAuthentication no
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
"""


@pytest.fixture
def server(tmp_path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A server, and its port; it knows the key ``user`` of ``tmp_path``."""
    program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None or shutil.which("ssh-keygen") is None:
        pytest.skip("no sshd here")
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name], check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (tmp_path / "sshd_config").write_text(CONFIG.format(port=port, home=tmp_path))
    with subprocess.Popen(
        [program, "-D", "-e", "-f", tmp_path / "sshd_config"], stderr=subprocess.PIPE
    ) as running:
        assert running.stderr is not None
        said = running.stderr.readline().decode()
        if "listening" not in said:
            running.kill()
            pytest.skip(f"sshd does not start here: {said.strip()}")
        yield running, port
        running.send_signal(signal.SIGCONT)
        running.kill()


def test_a_remote_over_ssh_is_pushed_to_pulled_from_and_not_waited_for(
    server, tmp_path, model_dir, monkeypatch
):
    running, port = server
    team = make_team(tmp_path, model_dir, "git", count=4)
    keys = f"-i {tmp_path}/user -oUserKnownHostsFile={tmp_path}/known -oStrictHostKeyChecking=accept-new"
    monkeypatch.setattr(remote_files, "_SSH", f"{remote_files._SSH} -F none {keys}")
    ann, bob = team.clone("ann"), team.clone("bob")
    user = pwd.getpwuid(os.getuid()).pw_name
    for person in (ann, bob):
        person.git.git("remote", "set-url", "origin", f"ssh://{user}@127.0.0.1:{port}{team.origin.path}")
    ann.embed()
    assert ann.push().texts == 8
    assert bob.pull().texts == 8
    assert bob.vectors() == ann.vectors()
    running.send_signal(signal.SIGSTOP)
    monkeypatch.setattr(remote_files, "_SSH", f"ssh -oConnectTimeout=1 {remote_files._SSH[4:]}")
    with pytest.raises(NetworkError, match="timed out"):
        bob.team().place.list()
