"""The check list of a release: what refuses, what changes nothing, and that it names what is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.release import check_wheel, interpreters, run, wheels
from tests.support.places import REPO


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with what the first steps look at, all of it committed."""
    (tmp_path / "bench").mkdir()
    files = {
        "Cargo.toml": '[workspace]\nmembers = []\n\n[workspace.package]\nversion = "0.1.0"\nedition = "2021"\n',
        "README.md": "Version 0.2.0, format version 1.\n",
        "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-02-03)\n\n### Added\n- A thing.\n\n## 0.1.0 (2026-01-02)\n- All.\n",
        "bench/pyproject.toml": 'dependencies = ["holdall[cli]~=0.2.0"]\n',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "all"]):
        git(tmp_path, *command)
    monkeypatch.setattr(run, "REPO", tmp_path)
    monkeypatch.setattr(run, "PLACE", tmp_path / "Cargo.toml")
    return tmp_path


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize("version", ["1.2", "1.2.3.4", "v1.2.3", "1.02.3", "1.2.3rc1", "", "1.2.x", "-1.2.3"])
def test_what_is_no_version_is_refused(version: str) -> None:
    with pytest.raises(run.Refused, match="is no version"):
        run.numbers(version)


def test_a_tree_that_is_not_committed_is_refused(repo: Path) -> None:
    assert run.tree("0.2.0") is None
    (repo / "new.txt").touch()
    with pytest.raises(run.Refused, match=r"changes: new\.txt"):
        run.tree("0.2.0")


def test_what_is_released_is_refused(repo: Path) -> None:
    git(repo, "tag", "v0.10.0")
    for version in ("0.10.0", "0.9.9"):
        with pytest.raises(run.Refused, match=r"v0\.10\.0 is released"):
            run.tree(version)
    assert run.tree("0.10.1") is None


def test_the_version_is_set_in_its_place(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run.number("0.2.0") == "Cargo.toml says 0.1.0"
    monkeypatch.setattr(run.subprocess, "run", lambda *_, **__: None)
    run.set_number("0.2.0")
    assert run.number("0.2.0") is None
    assert 'edition = "2021"' in (repo / "Cargo.toml").read_text(encoding="utf-8")
    with pytest.raises(run.Refused, match="which is later"):
        run.number("0.1.9")


def test_the_pages_say_the_version(repo: Path) -> None:
    assert run.readme("0.2.0") is None
    with pytest.raises(run.Refused, match=r"README\.md does not say `Version 0\.2\.1"):
        run.readme("0.2.1")
    (repo / "README.md").write_text("Version 0.3.0, format version 1", encoding="utf-8")
    with pytest.raises(run.Refused, match=r"bench/pyproject\.toml does not ask for holdall ~=0\.3"):
        run.readme("0.3.0")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("## Unreleased\n- A thing.\n", "has no section"),
        ("## 1.0.0\n- A thing.\n", "has no section"),
        ("## 1.0.0 (2026-13-01)\n- A thing.\n", "is no date"),
        ("## 1.0.0 (2026-01-01)\n\n## 0.9.0 (2025-01-01)\n- Before.\n", "says nothing"),
        ("## 1.1.0 (2026-01-01)\n- Later.\n\n## 1.0.0 (2026-01-01)\n- A thing.\n", "1.1.0 stands before"),
    ],
)
def test_a_changelog_that_lacks_it_is_refused(text: str, error: str) -> None:
    with pytest.raises(run.Refused, match=error):
        run.section(text, "1.0.0")


def test_the_changelogs_section(repo: Path) -> None:
    text = (repo / "CHANGELOG.md").read_text(encoding="utf-8")
    assert run.section(text, "0.2.0") == "\n### Added\n- A thing.\n\n"


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Three steps that write down what they do; the second has nothing to do."""
    did: list[str] = []

    def step(name: str, missing: str | None) -> run.Step:
        return run.Step(name, lambda _: missing, lambda _: did.append(name))

    monkeypatch.setattr(run, "STEPS", [step("a", "a is missing"), step("b", None), step("c", "c is missing")])
    return did


def test_nothing_is_done_unless_it_is_said(steps: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run.release("1.0.0", False, set()) == 0
    assert steps == []
    shown = capsys.readouterr().out
    assert "[ ] a: a is missing" in shown and "[x] b" in shown and "Nothing was changed" in shown


def test_what_was_not_done_by_hand_is_refused(steps: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    done = run.BY_HAND.keys() - {"fuzz", "bench"}
    with pytest.raises(run.Refused, match="by hand: bench, fuzz$"):
        run.release("1.0.0", True, set(done))
    assert steps == ["a", "c"] and "git tag" not in capsys.readouterr().out
    assert run.release("1.0.0", True, set(run.BY_HAND)) == 0
    assert "git tag --annotate v1.0.0" in capsys.readouterr().out
    with pytest.raises(run.Refused, match="nothing by hand that is named dance"):
        run.release("1.0.0", True, {"dance"})


@pytest.mark.parametrize("write", [False, True])
def test_a_step_that_fails_refuses_the_release(
    steps: list[str], monkeypatch: pytest.MonkeyPatch, write: bool
) -> None:
    def fails(_: str) -> None:
        raise run.Refused("it does not hold")

    broken = run.Step("broken", fails if not write else lambda _: "missing", fails)
    monkeypatch.setattr(run, "STEPS", [run.STEPS[0], broken, run.STEPS[2]])
    with pytest.raises(run.Refused, match="no release: broken"):
        run.release("1.0.0", write, set(run.BY_HAND))
    # Those after it are not begun.
    assert steps == (["a"] if write else [])


def test_every_target_that_it_names_exists() -> None:
    makefile = (REPO / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"(?m)^([a-z-]+):", makefile))
    source = Path(run.__file__).read_text(encoding="utf-8")
    named = {word for words in re.findall(r'"make ([a-z -]+)', source) for word in words.split()}
    named |= set(re.findall(r'make\("([a-z-]+)"', source))
    assert {"test", "wheels", "golden", "docs", "vectors", "bench"} <= named
    # `test-all` comes with the table of versions.
    assert named - targets <= {"test-all"}


def test_the_projects_own_version_is_one_place() -> None:
    version = run.current((REPO / "Cargo.toml").read_text(encoding="utf-8"))
    assert run.number(version) is None and run.readme(version) is None


# --- the workflow of CI ---
WORKFLOW = REPO / ".github" / "workflows" / "wheels.yml"


def test_ci_builds_for_every_python_that_a_wheel_is_built_for() -> None:
    yaml = pytest.importorskip("yaml")
    jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    matrix = jobs["wheel"]["strategy"]["matrix"]
    assert sorted("cp" + python.replace(".", "") for python in matrix["python"]) == sorted(
        interpreters.WANTED
    )
    assert [one["system"] for one in matrix["include"]] == matrix["system"]
    # And nothing is published before all of it is done.
    assert set(jobs["publish"]["needs"]) == jobs.keys() - {"publish"}
    assert jobs["publish"]["permissions"] == {"id-token": "write"}


def test_actions_are_pinned() -> None:
    used = re.findall(r"(?m)^ *-? ?uses: (\S+)(.*)$", WORKFLOW.read_text(encoding="utf-8"))
    assert len(used) >= 8
    for action, comment in used:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), action


def test_the_metadata_names_every_python() -> None:
    text = (REPO / "pyproject.toml").read_text(encoding="utf-8")
    named = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', text)
    assert named == [f"3.{tag[3:]}" for tag in interpreters.WANTED if not tag.endswith("t")]


# --- wheels ---
@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("holdall-0.1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "cp311"),
        ("holdall-0.1.0-cp314-cp314t-win_amd64.whl", "cp314t"),
    ],
)
def test_the_python_of_a_wheel(name: str, tag: str) -> None:
    assert check_wheel.tag_of(Path(name)) == tag


def test_a_wheel_for_all_is_refused() -> None:
    with pytest.raises(ValueError, match="more than one Python"):
        check_wheel.tag_of(Path("holdall-0.1.0-cp311-abi3-win_amd64.whl"))


def test_this_python_is_found() -> None:
    (tag,) = interpreters.installed([sys.executable, sys.executable])
    assert tag.rstrip("t") == f"cp3{sys.version_info[1]}" and tag in interpreters.WANTED
    with pytest.raises(SystemExit, match="is no CPython"):
        interpreters.installed([str(REPO / "README.md")])


def test_a_wheel_that_is_too_large_is_refused(tmp_path: Path) -> None:
    large = tmp_path / "holdall-0.1.0.tar.gz"
    large.write_bytes(bytes(2_000_000))
    assert wheels.size(large, 2.5) == " 2.00 MB  holdall-0.1.0.tar.gz"
    with pytest.raises(SystemExit, match="2.0 MB, and 1.5 at most"):
        wheels.size(large, 1.5)
