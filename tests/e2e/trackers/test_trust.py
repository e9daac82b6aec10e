"""Which tracker is asked, and who gets a token: what a repository's own files and origin cannot do."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.support.command import Gitrag, Project
from tests.support.tracked import Tracked
from tests.support.tracker_fakes import TOKEN, GiteaFake, GitHubFake, GitLabFake


def from_origin(tracked: Tracked, *, user: str = "") -> Tracked:
    """Take the user's settings away: only origin names the server."""
    git = tracked.project.git
    for key in ("tracker", "trackerUrl", "trackerProject"):
        git.git("config", "--global", "--unset", f"gitrag.{key}")
    origin = tracked.fake.url.replace("://", f"://{user}") + f"/{tracked.fake.project}.git"
    git.git("remote", "add", "origin", origin)
    return tracked


def sent(tracked: Tracked) -> set[str]:
    return {asked.authorization for asked in tracked.fake.asked}


def test_a_server_that_only_origin_names_is_probed_and_gets_no_token(make_tracked):
    tracked = from_origin(make_tracked(GiteaFake))
    tracked.fill(4)
    done = tracked.sync()
    assert done.out.startswith("Synced 4 issues from gitea")
    assert sent(tracked) == {""}
    told = tracked.project.gitrag("issues", "status")
    assert "token    none" in told.out
    assert (
        f"hint: the environment's token is not sent to {tracked.fake.url} unless you name the server:"
        in told.err
    )
    tracked.project.git.git("config", "--global", "gitrag.trackerUrl", tracked.fake.url)
    tracked.fake.asked.clear()
    tracked.sync()
    assert f"token {TOKEN}" in sent(tracked)


def test_the_password_in_origins_url_is_neither_sent_nor_shown(make_tracked):
    tracked = from_origin(make_tracked(GiteaFake), user="bob:hunter2@")
    tracked.fill(1)
    done = tracked.sync()
    told = tracked.project.gitrag("issues", "status")
    assert "hunter2" not in done.out + done.err + told.out + told.err
    assert sent(tracked) == {""}
    assert "hunter2" not in (tracked.folder / "_meta.json").read_text()


def test_the_token_of_a_server_on_this_machine_goes_through_no_proxy(make_tracked):
    tracked, proxy = make_tracked(GiteaFake), make_tracked(GiteaFake)
    tracked.fill(1)
    environment = {**tracked.project.gitrag.environment, "HTTP_PROXY": proxy.fake.url, "NO_PROXY": ""}
    tracked.sync(env=environment)
    assert not proxy.fake.asked
    assert f"token {TOKEN}" in sent(tracked)


def test_a_repositorys_own_settings_choose_no_host(make_tracked):
    tracked, evil = make_tracked(GitHubFake), make_tracked(GitHubFake)
    evil.fill(2)
    tracked.fill(1)
    lines = f"tracker_url: {evil.fake.url}\ntracker_credentials: git\n"
    tracked.project.git.commit({".gitrag.yaml": lines})
    done = tracked.sync()
    assert ".gitrag.yaml sets tracker_url, which only you may set: ignored." in done.err
    assert tracked.ids() == ["1"]
    assert not evil.fake.asked


def test_a_repositorys_own_settings_do_not_bring_a_token_to_origins_host(make_tracked):
    """The kind is the team's to say, origin's host is whoever's: the token of the kind is not sent there."""
    tracked = from_origin(make_tracked(GitHubFake))
    tracked.fill(1)
    tracked.project.git.commit({".gitrag.yaml": "tracker: github\ntracker_project: team/project\n"})
    tracked.sync()
    assert sent(tracked) == {""}


def test_a_forged_note_of_the_last_sync_names_no_host(make_tracked):
    tracked, evil = make_tracked(GitHubFake), make_tracked(GitHubFake)
    tracked.fill(1)
    tracked.folder.mkdir(parents=True)
    (tracked.folder / "_meta.json").write_text(
        f'{{"version": 1, "place": "github {evil.fake.url} team/project", "tracker": "github", "cursor": "",'
        ' "complete": true, "synced": 0.0, "merged": []}'
    )
    tracked.sync()
    assert not evil.fake.asked


def test_the_vendors_program_is_asked_for_the_host_without_the_environments_tokens(make_tracked, tmp_path):
    tracked = from_origin(make_tracked(GitLabFake))
    tracked.fill(1)
    tracked.project.git.git("config", "--global", "gitrag.tracker", "gitlab")
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "glab").write_text(
        f"#!/bin/sh\nenv > {tmp_path}/env\n"
        '[ "$*" = "config get token --host 127.0.0.1" ] && echo kept-by-glab\n'
    )
    (tools / "glab").chmod(0o755)
    path = f"{tools}:{tracked.project.gitrag.environment['PATH']}"
    tracked.sync(env={"PATH": path})
    assert sent(tracked) == {"Bearer kept-by-glab"}
    assert TOKEN not in (tmp_path / "env").read_text()


def test_giteas_program_knows_a_server_with_its_port(make_tracked, tmp_path):
    tracked = from_origin(make_tracked(GiteaFake))
    tracked.fill(1)
    tools = tmp_path / "bin"
    tools.mkdir()
    address = tracked.fake.url.removeprefix("http://")
    (tools / "tea").write_text(
        '#!/bin/sh\n[ "$*" = "login helper get" ] && grep -qx "host='
        + address
        + f'" || exit 1\nprintf "protocol=http\\nhost={address}\\nusername=u\\npassword=kept-by-tea\\n"\n'
    )
    (tools / "tea").chmod(0o755)
    path = f"{tools}:{tracked.project.gitrag.environment['PATH']}"
    tracked.sync(env={"PATH": path})
    assert "token kept-by-tea" in sent(tracked)


def test_gits_credential_helper_is_asked_only_where_the_user_says_so(make_tracked):
    tracked = make_tracked(GitHubFake, token=False)
    tracked.fill(1)
    git = tracked.project.git
    helper = '!f() { [ "$1" = get ] && printf "username=u\\npassword=from-helper\\n"; }; f'
    git.git("config", "--global", "credential.helper", helper)
    tracked.sync()
    assert sent(tracked) == {""}
    git.git("config", "--global", "gitrag.trackerCredentials", "git")
    tracked.fake.asked.clear()
    tracked.sync()
    assert sent(tracked) == {"Bearer from-helper"}


def own_certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate for localhost that nobody but its maker trusts; return it and its key, as files."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    made, secret = folder / "certificate.pem", folder / "key.pem"
    made.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return made, secret


def test_a_certificate_of_an_unknown_authority_is_told_with_the_way_to_trust_it(make_tracked, tmp_path):
    tracked = make_tracked(GitHubFake)
    tracked.fill(2)
    made, secret = own_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made, secret)
    server = tracked.fake.server
    server.socket = context.wrap_socket(server.socket, server_side=True)
    tracked.project.git.git(
        "config", "--global", "gitrag.trackerUrl", f"https://localhost:{server.server_port}"
    )
    done = tracked.project.gitrag("issues", "sync")
    assert (done.status, done.said[0]) == (78, "The certificate of localhost is not trusted.")
    assert "SSL_CERT_FILE=" in done.err
    assert not tracked.fake.asked
    tracked.sync(env={"SSL_CERT_FILE": str(made)})
    assert tracked.ids() == ["1", "2"]


def test_a_server_in_the_clear_is_refused(make_tracked):
    tracked = make_tracked(GitHubFake)
    for url in ("http://tracker.example.com", "https://user:pass@tracker.example.com", "ftp://x", "tracker"):
        tracked.project.git.git("config", "--global", "gitrag.trackerUrl", url)
        done = tracked.project.gitrag("issues", "sync")
        assert done.status == 2
        assert "it must be https://host, or http://localhost, without user or password" in done.err


def test_an_unknown_tracker_is_told_with_the_nearest(make_tracked):
    tracked = make_tracked(GitHubFake)
    done = tracked.project.gitrag("issues", "sync", "--tracker", "guthub")
    assert (done.status, done.said[0]) == (2, 'There is no tracker "guthub".')
    assert 'Did you mean "github"?' in done.err


def test_without_a_tracker_it_says_so(tmp_path, plain_environment):
    from tests.support.repository import create_repository

    git = create_repository(tmp_path / "alone", plain_environment, {"a.py": "a = 1\n"})
    project = Project(git, Gitrag(git.path, plain_environment))
    done = project.gitrag("issues", "sync")
    assert (done.status, done.said[0]) == (78, "No tracker is known for this repository.")
    assert not (project.path / ".sdd").exists()
    assert project.gitrag("issues", "list").status == 1
