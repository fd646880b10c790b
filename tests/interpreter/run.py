"""The interpreter's own tests, with `holdall.pickle` in pickle's place and `holdall.deepcopy` in `copy.deepcopy`'s.

    make interpreter-tests
    make interpreter-tests ARGS='test_copy test_enum'   # some of the files
    make interpreter-tests ARGS='-v test_copy'          # with the tracebacks of what fails unexpectedly

CPython's `test` package has some hundreds of tests that pickle or copy: of the module itself (`test.pickletester`), and of every type
that can be pickled. Each file runs in a process of its own, so that a crash is seen, and is the result of one test. Of a file, those
tests run whose source mentions pickling or copying; of the files that are about that, all.

What fails has to be named in `expected-<version>.toml` with its reason, and what is named there has to fail. What fails without us
too (for want of a network, say) is passed over.
"""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).parent
# All their tests are about pickling or copying.
WHOLE = ["test_pickle", "test_picklebuffer", "test_copy", "test_copyreg", "test_shelve", "test_structseq"]
PARTLY = """
    test_array test_ast test_asyncio.test_tasks test_bool test_builtin test_bytes test_bz2 test_codecs test_collections test_configparser
    test_coroutines test_csv test_dataclasses test_datetime test_decimal test_defaultdict test_deque
    test_descr test_dict test_dictviews test_email.test_pickleable test_enum test_enumerate test_exception_group test_exceptions
    test_fractions test_functools test_generators test_genericalias test_http_cookies test_importlib.test_main test_inspect.test_inspect
    test_io test_ipaddress test_iter test_itertools test_list test_logging test_lzma test_memoryio test_memoryview test_minidom
    test_operator test_optparse test_ordered_dict test_os test_pathlib test_platform test_plistlib test_positional_only_arg test_random
    test_range test_re test_set test_slice test_socket test_statistics test_time test_tomllib.test_misc test_tuple test_types
    test_typing test_unicode test_userdict test_userlist test_uuid test_weakref test_weakset test_xml_dom_minicompat test_xml_etree
    test_zlib test_zoneinfo.test_zoneinfo ctypes.test.test_pickling
""".split()
ABOUT = re.compile(r"pickl|copy|\bdumps\b|\bloads\b")
TIMEOUT = 300
BAD = ("failed", "crashed")


# --- in the process of one file ---


class Record(unittest.TestResult):
    """Says line by line what happens: what was begun and not ended is where the process died."""

    def __init__(self, out) -> None:
        super().__init__()
        self.out = out
        self.how = "passed"
        self.why = ""

    def tell(self, **event) -> None:
        self.out.write(json.dumps(event) + "\n")
        self.out.flush()

    def startTest(self, test) -> None:
        super().startTest(test)
        self.how, self.why = "passed", ""
        self.tell(begun=short(test))

    def stopTest(self, test) -> None:
        super().stopTest(test)
        self.tell(test=short(test), how=self.how, why=self.why)

    def fails(self, test, error) -> None:
        if self.how != "failed":
            self.how, self.why = "failed", self._exc_info_to_string(error, test)

    def addError(self, test, error) -> None:
        if isinstance(test, unittest.TestCase):
            self.fails(test, error)
        else:  # a fixture of a class or of the module
            self.tell(test=str(test), how="failed", why=self._exc_info_to_string(error, test))

    addFailure = addError

    def addSubTest(self, test, subtest, error) -> None:
        if error is not None:
            self.fails(test, error)

    def addSkip(self, test, reason) -> None:
        self.how = "skipped"

    def addUnexpectedSuccess(self, test) -> None:
        self.how, self.why = "failed", "passes where CPython's own fails"


def short(test: unittest.TestCase) -> str:
    """Class and method."""
    return ".".join(test.id().split(".")[-2:])


def module_of(name: str) -> str:
    return name if name.startswith("ctypes.") else f"test.{name}"


def stand_in() -> None:
    import copy
    import pickle
    import pickletools  # compares its opcodes with those of the module that it finds

    import holdall
    import holdall.pickle

    # Whoever has pickle already keeps it; whoever imports it from now on gets ours, and nobody the C module behind it.
    del pickle, pickletools
    sys.modules["pickle"] = holdall.pickle
    sys.modules["_pickle"] = None  # type: ignore[assignment]
    copy.deepcopy = holdall.deepcopy


def concerns(test: unittest.TestCase) -> bool:
    method = getattr(type(test), getattr(test, "_testMethodName", ""), None)
    try:
        return (
            method is not None
            and ABOUT.search(test._testMethodName + inspect.getsource(inspect.unwrap(method))) is not None
        )
    except (OSError, TypeError):
        return False


def cases(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from cases(test)
        else:
            yield test


def child(name: str, out: str, skip: list[str], only: list[str], plain: bool) -> None:
    import faulthandler

    faulthandler.enable()
    if not plain:
        stand_in()
    # Some tests write into the current folder.
    from test import support

    support.verbose = False
    whole = name in WHOLE
    suite = unittest.defaultTestLoader.loadTestsFromName(module_of(name))
    chosen = unittest.TestSuite()
    for test in cases(suite):
        named = short(test)
        if (whole or concerns(test)) and named not in skip and (not only or named in only):
            chosen.addTest(test)
    with open(out, "w") as file:
        record = Record(file)
        record.tell(count=chosen.countTestCases())
        chosen.run(record)
        record.tell(done=True)


# --- in the process that starts them ---


def run(name: str, only: list[str], skip: list[str], plain: bool = False) -> dict[str, tuple[str, str]]:
    """How each test of a file ended, and why if it failed."""
    results: dict[str, tuple[str, str]] = {}
    while True:
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "events")
            known = os.path.join(folder, "known")
            Path(known).write_text(json.dumps([skip + list(results), only]))
            command = [sys.executable, __file__, "--child", name, out, known, *(["--plain"] if plain else [])]
            try:
                ended = subprocess.run(
                    command,
                    cwd=folder,
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=TIMEOUT,
                    check=False,
                )
                code, said = ended.returncode, ended.stderr
            except subprocess.TimeoutExpired:
                code, said = None, f"took more than {TIMEOUT} s"
            begun, done = None, False
            if os.path.exists(out):
                for line in Path(out).read_text().splitlines():
                    event = json.loads(line)
                    begun = event.get("begun", begun)
                    done = done or event.get("done", False)
                    if "test" in event:
                        results[event["test"]] = event["how"], event["why"]
        if done:
            return results
        if begun is None or begun in results:
            results["(the file)"] = "failed", said[-3000:]
            return results
        how = "timeout" if code is None else signal.Signals(-code).name if code < 0 else f"exit {code}"
        results[begun] = "crashed", f"{how}\n{said[-3000:]}"


def expected_file() -> Path:
    return HERE / f"expected-{sys.version_info[0]}.{sys.version_info[1]}.toml"


def expectations() -> tuple[dict[str, list[str]], dict[str, dict[str, str]]]:
    """By file: tests that would not end, which are not run; and why which others fail."""
    import tomllib

    with expected_file().open("rb") as file:
        content = tomllib.load(file)
    reasons, endless = content.pop("reasons"), content.pop("endless", {})
    named = {
        name: {key: why for why, keys in tests.items() for key in keys} for name, tests in content.items()
    }
    for name, tests in named.items():
        for test, why in tests.items():
            assert why in reasons, f"{name}: {test}: no such reason: {why}"
    return endless, named


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*")
    parser.add_argument("-v", "--verbose", action="store_true")
    arguments = parser.parse_args()
    if importlib.util.find_spec("test.pickletester") is None:
        print("interpreter-tests did not run: this Python has no `test` package")
        return 0
    if not expected_file().exists():
        print(
            f"interpreter-tests did not run: {expected_file().name} is not there; 3.11 is the version that is looked at"
        )
        return 0
    endless, expected = expectations()
    wrong = total = allowed = 0
    for name in arguments.files or WHOLE + PARTLY:
        try:
            there = importlib.util.find_spec(module_of(name)) is not None
        except ModuleNotFoundError:
            there = False
        if not there:
            print(f"{name}: not in this Python")
            continue
        results = run(name, [], endless.get(name, []))
        failed = {test: why for test, (how, why) in results.items() if how in BAD}
        named = expected.get(name, {})
        news = [test for test in failed if test not in named]
        if news:
            # What fails without us too is none of ours.
            alone = run(name, [test for test in news if test != "(the file)"], [], plain=True)
            news = [test for test in news if alone.get(test, ("passed", ""))[0] not in BAD]
        stale = [test for test in named if test not in failed]
        total += len(results)
        allowed += len(failed) - len(news)
        wrong += len(news) + len(stale)
        print(f"{name}: {len(results)} tests, {len(failed)} fail, {len(named)} of them as expected")
        for test in news:
            how, why = results[test]
            last = [line for line in why.strip().splitlines() if line.strip()][-1:] or [""]
            print(f"  unexpectedly {how}: {test}: {why if arguments.verbose else last[0][:200]}")
        for test in stale:
            print(f"  expected to fail, but {results.get(test, ('is not there', ''))[0]}: {test}")
        sys.stdout.flush()
    print(f"{total} tests, {allowed} fail with a known reason, {wrong} other than expected")
    return bool(wrong)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        skip, only = json.loads(Path(sys.argv[4]).read_text())
        child(sys.argv[2], sys.argv[3], skip, only, "--plain" in sys.argv)
    else:
        sys.exit(main())
