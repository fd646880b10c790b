"""kombu's registry, Celery with a worker."""

from __future__ import annotations

import os
import pathlib
import pickle
import subprocess
import sys
from typing import Any

import kombu
import pytest
from celery import Celery
from celery.contrib.testing.worker import start_worker
from kombu import serialization
from kombu.exceptions import ContentDisallowed, DecodeError

from holdall import Seal
from holdall.integrations import celery as ours
from holdall.integrations.kombu import CONTENT_TYPE, register

from .contract import KEY, Contract, Order


class TestKombu(Contract):
    errors = DecodeError
    has_misses = False

    def open(self, **options: Any) -> Any:
        register("hold-tests", **options)
        return {}

    def put(self, store: Any, value: Any) -> None:
        store["sent"] = serialization.dumps(value, serializer="hold-tests")

    def get(self, store: Any) -> Any:
        kind, encoding, data = store["sent"]
        return serialization.loads(data, kind, encoding, accept=["application/x-hold-tests"])

    def plant(self, store: Any, data: bytes) -> None:
        store["sent"] = ("application/x-hold-tests", "binary", data)

    def raw(self, store: Any) -> bytes:
        return store["sent"][2]

    def test_kombu_finds_it_by_itself(self, tmp_path: pathlib.Path) -> None:
        """With what an installed holdall says of itself, and nothing that imports it."""
        text = (pathlib.Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
        _, _, entry = text.partition('[project.entry-points."kombu.serializers"]\n')
        folder = tmp_path / "holdall-0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: holdall\nVersion: 0\n")
        (folder / "entry_points.txt").write_text(
            "[kombu.serializers]\n" + entry.partition("\n\n")[0].replace('"', "") + "\n"
        )
        code = "from kombu import serialization as s; print(s.loads(*reversed(s.dumps({1}, serializer='hold')[::-1][:1]), 'application/x-hold', 'binary'))"
        path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        run = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        assert run.stdout == "{1}\n", run.stderr

    def test_its_content_type_is_what_is_accepted(self) -> None:
        serialization.register(
            "hold", *__import__("holdall.integrations.kombu").integrations.kombu.register_args
        )
        kind, encoding, data = serialization.dumps({"a": {1}}, serializer="hold")
        assert (kind, encoding) == (CONTENT_TYPE, "binary")
        assert serialization.loads(data, kind, encoding, accept=[CONTENT_TYPE]) == {"a": {1}}
        with pytest.raises(ContentDisallowed):
            serialization.loads(data, kind, encoding, accept=["application/json"])
        # Without kombu it can be asked for, too: entry points are read while kombu is imported.
        code = "import sys; sys.modules['kombu'] = None; import holdall.integrations.kombu as k; k.register()"
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "holdall.integrations.kombu needs kombu: pip install 'holdall[kombu]'" in run.stderr

    def test_a_queue(self) -> None:
        register("hold-tests", types=Order)
        with kombu.Connection("memory://") as connection:
            queue = connection.SimpleQueue("orders", serializer="hold-tests")
            queue.consumer.accept = {"application/x-hold-tests"}
            for number in range(20):
                queue.put(Order(number, ["x"]))
            got = [queue.get(timeout=5) for _ in range(20)]
            assert [message.payload for message in got] == [Order(number, ["x"]) for number in range(20)]
            for message in got:
                message.ack()
            queue.close()


def test_celery_worker() -> None:
    app = Celery("tests", broker="memory://", backend="cache+memory://")
    ours.configure(app, types=Order, seal=Seal(KEY, context="tasks"))

    @app.task
    def double(order: Order) -> Order:
        return Order(order.number * 2, order.lines * 2)

    @app.task
    def fail(what: str) -> None:
        raise LookupError(what, 5)

    with start_worker(app, perform_ping_check=False, pool="threads", concurrency=2):
        results = [double.delay(Order(number, ["x"])) for number in range(20)]
        assert [result.get(timeout=20) for result in results] == [Order(2 * n, ["x", "x"]) for n in range(20)]
        with pytest.raises(LookupError) as raised:
            fail.delay("gone").get(timeout=20)
        assert raised.value.args[0] == "gone"
        chained = double.s(Order(1, ["y"])) | double.s()
        assert chained.delay().get(timeout=20) == Order(4, ["y"] * 4)
    with pytest.raises(ContentDisallowed):
        serialization.loads(
            pickle.dumps(1), "application/x-python-serialize", "binary", accept={CONTENT_TYPE}
        )
