"""PySpark with holdall: its serializer, logs as a frame, a worker that dies."""

from __future__ import annotations

import io
import os
import pathlib
import pickle
import shutil
import signal
import struct
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from holdall.integrations import spark as ours
from tests.support.isomorphic import isomorphic

from .values import WORKERS_PATH, Event, arrays, event, mixed, order

pytestmark = pytest.mark.skipif(shutil.which("java") is None, reason="java is not installed")


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    os.environ["PYTHONPATH"] = WORKERS_PATH
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "4",
        "spark.task.maxFailures": "4",
        "spark.sql.session.timeZone": "UTC",
    }
    conf = SparkConf().setMaster("local[2,4]").setAppName("holdall").setAll(list(settings.items()))
    context = SparkContext(conf=conf, serializer=ours.HoldSerializer())
    context.setLogLevel("ERROR")
    yield SparkSession(context)
    context.stop()


def test_data_of_rdds(spark: Any) -> None:
    context = spark.sparkContext
    events = [event(number) for number in range(2000)]
    rdd = context.parallelize(events, 4)
    assert rdd.collect() == events
    assert rdd.map(lambda one: (one.id % 10, one.id)).reduceByKey(lambda a, b: a + b).collectAsMap() == {
        key: sum(number for number in range(2000) if number % 10 == key) for key in range(10)
    }
    isomorphic(mixed(50), context.parallelize([mixed(50)], 1).collect()[0])
    small = context.broadcast({"a": order(1)})
    assert context.parallelize([1, 2], 2).map(lambda _: small.value["a"].number).collect() == [1, 1]


class OfMain:
    __module__ = "__main__"


def test_what_goes_by_value() -> None:
    serializer = ours.HoldSerializer()
    for value in (event(1), [1, "a"], None, {"a": (1, 2)}):
        data = serializer.dumps(value)
        assert data[0] != 0x80 and serializer.loads(data) == value
    assert serializer.loads(serializer.dumps(lambda: 7))() == 7
    assert repr(serializer) == "HoldSerializer()"


def test_arrays_are_read_to_where_they_stay() -> None:
    serializer = ours.HoldSerializer()
    large = arrays(3, 20_000)
    large["fixed"] = np.arange(30_000).reshape(100, 300).T
    large["fixed"].flags.writeable = False
    large["all"] = [large["array 0"], np.arange(5), np.zeros((0, 3)), pickle.PickleBuffer(bytes(100_000))]
    batches = [[large, event(1)], [lambda: 7], "", [np.arange(8)]]
    stream = io.BytesIO()
    serializer.dump_stream(batches, stream)
    whole = stream.getvalue()
    assert whole == b"".join(len(d).to_bytes(4, "big") + d for d in map(serializer.dumps, batches))
    stream.seek(0)
    (first, one), (function,), empty, (small,) = serializer.load_stream(stream)
    assert one == event(1) and function() == 7 and empty == "" and (small == np.arange(8)).all()
    for found in (first, serializer.loads(serializer.dumps(large))):
        isomorphic({**found, "all": found["all"][:3]}, {**large, "all": large["all"][:3]})
        assert type(found["all"][3]) is bytes and found["all"][0] is found["array 0"]
        # As they were: each can be written to without others seeing it.
        found["array 0"][:] = 1
        assert found["array 1"][0] == 1 and found["array 1"][1] == 2 and not found["fixed"].flags.writeable
    for end in (0, 3, 4, 8, 100, 200_000, len(whole) // 2):
        with pytest.raises((EOFError, struct.error)):
            serializer._read_with_length(io.BytesIO(whole[:end]))
    special = (-1).to_bytes(4, "big", signed=True), (-5).to_bytes(4, "big", signed=True)
    assert [*serializer.load_stream(io.BytesIO(special[1] + special[0]))] == [None]


def test_arrays_of_rdds(spark: Any) -> None:
    items = list(arrays(10, 50_000).items())
    rdd = spark.sparkContext.parallelize(items, 3)
    for found in (
        rdd.collect(),
        rdd.map(lambda one: one).collect(),
        sorted(rdd.partitionBy(2).collect(), key=lambda item: int(item[0].split()[1])),
    ):
        isomorphic(found, items, identity=False)
        assert all(array.flags.writeable for _, array in found)


def test_a_frame(spark: Any, logs: str) -> None:
    frame = ours.read_log(spark, logs, 1 << 18, type=Event)
    assert frame.columns == ["id", "name", "value", "kind", "tags", "place"]
    assert frame.count() == 30_000
    assert frame.groupBy().sum("id").collect()[0][0] == sum(range(30_000))
    assert sorted(row.id for row in frame.select("id").collect()) == [*range(30_000)]
    row = frame.where("id = 4").collect()[0]
    assert (row.name, row.kind, row.tags, row.place.x) == ("name 4", "in", [], 2.0)


def test_the_format(spark: Any, logs: str) -> None:
    ours.register(spark)
    reader = (
        spark.read.format("holdall").option("type", "tests.scale.values:Event").option("blocksize", "200000")
    )
    assert reader.load(logs).count() == 30_000
    with pytest.raises(Exception, match="expected an option `type`"):
        spark.read.format("holdall").load(logs).count()


def test_a_worker_that_dies_loses_and_doubles_nothing(spark: Any, logs: str, tmp_path: pathlib.Path) -> None:
    once = tmp_path / "died"

    def dying(records: Any) -> Any:
        for record in records:
            if record.id == 17_000 and not once.exists():
                once.touch()
                time.sleep(0.1)
                os.kill(os.getpid(), signal.SIGKILL)
            yield record.id

    frame = ours.read_log(spark, logs, 1 << 18, type=Event)
    assert sorted(frame.rdd.mapPartitions(dying).collect()) == [*range(30_000)]
    assert once.exists()
