"""rq, huey, dramatiq, arq, taskiq, APScheduler."""

from __future__ import annotations

import asyncio
import datetime
import json
import pickle
import time
from typing import Any

import pytest
from redis import Redis

from holdall import DecodeError, Seal, UnknownTypeError

from .contract import KEY, Contract, Order

SEAL = {"seal": Seal(KEY, context="queue")}


class Direct(Contract):
    """A serializer that a library calls with bytes."""

    has_misses = False

    def codec(self, **options: Any) -> Any:
        raise NotImplementedError

    def open(self, **options: Any) -> Any:
        return {"codec": self.codec(**options)}

    def put(self, store: Any, value: Any) -> None:
        store["data"] = store["codec"].dumps(value)

    def get(self, store: Any) -> Any:
        return store["codec"].loads(store["data"])

    def plant(self, store: Any, data: bytes) -> None:
        store["data"] = data

    def raw(self, store: Any) -> bytes:
        return store["data"]


# --- rq ---


class TestRq(Direct):
    def codec(self, **options: Any) -> Any:
        from holdall.integrations.rq import HoldSerializer

        return HoldSerializer.using(**options)


def doubled(order: Order) -> Order:
    return Order(order.number * 2, order.lines)


def failing(what: str) -> None:
    raise LookupError(what)


def test_rq_worker(redis_server: int, redis_url: str) -> None:
    from rq import Queue, SimpleWorker
    from rq.job import Job
    from rq.serializers import resolve_serializer

    from holdall.integrations.rq import HoldSerializer

    assert resolve_serializer("holdall.integrations.rq.HoldSerializer") is HoldSerializer
    ours = HoldSerializer.using(types=Order, **SEAL)
    connection = Redis(port=redis_server)
    queue = Queue(connection=connection, serializer=ours)
    jobs = [queue.enqueue(doubled, Order(number, ["x"]), meta={"by": ("me", number)}) for number in range(5)]
    bad = queue.enqueue(failing, "gone")
    planted = queue.enqueue(doubled, Order(9, []))
    connection.hset(planted.key, "data", pickle.dumps(("os.getpid", None, (), {})))
    SimpleWorker([queue], connection=connection, serializer=ours).work(burst=True, logging_level="CRITICAL")
    assert [job.return_value(refresh=True) for job in jobs] == [
        Order(number * 2, ["x"]) for number in range(5)
    ]
    assert Job.fetch(jobs[3].id, connection=connection, serializer=ours).meta == {"by": ("me", 3)}
    assert bad.get_status(refresh=True) == planted.get_status(refresh=True) == "failed"


# --- huey ---


class TestHuey(Direct):
    def codec(self, **options: Any) -> Any:
        from holdall.integrations.huey import HoldSerializer

        made = HoldSerializer(**options)
        made.dumps, made.loads = made.serialize, made.deserialize
        return made


def test_huey_tasks(tmp_path: Any) -> None:
    from huey import SqliteHuey
    from huey.exceptions import TaskException

    from holdall.integrations.huey import HoldSerializer

    huey = SqliteHuey(
        "tests", filename=str(tmp_path / "huey.db"), serializer=HoldSerializer(types=[Order], **SEAL)
    )

    @huey.task()
    def double(order: Order) -> Order:
        return doubled(order)

    @huey.task()
    def fail() -> None:
        raise LookupError("gone")

    result, failed = double(Order(4, ["x"])), fail()
    later = double.schedule((Order(1, []),), delay=datetime.timedelta(hours=1))
    while (task := huey.dequeue()) is not None:
        huey.execute(task)
    assert result.get() == Order(8, ["x"]) and later.get() is None
    with pytest.raises(TaskException, match="gone"):
        failed.get()
    assert huey.scheduled()[0].args == (Order(1, []),)
    huey.storage.enqueue(pickle.dumps(1))
    with pytest.raises(DecodeError):
        huey.dequeue()


# --- dramatiq ---


class TestDramatiq(Direct):
    old_dumps = staticmethod(lambda value: json.dumps(value).encode())
    old_loads = staticmethod(json.loads)

    @property
    def errors(self) -> Any:  # type: ignore[override]
        from dramatiq.errors import DecodeError as Undecodable

        return Undecodable

    def codec(self, **options: Any) -> Any:
        from holdall.integrations.dramatiq import HoldEncoder

        made = HoldEncoder(**options)
        made.dumps, made.loads = made.encode, made.decode
        return made


def test_dramatiq_worker() -> None:
    import dramatiq
    from dramatiq.brokers.stub import StubBroker
    from dramatiq.results import Results
    from dramatiq.results.backends import StubBackend

    from holdall.integrations.dramatiq import HoldEncoder

    before = dramatiq.get_encoder()
    encoder = HoldEncoder(types=Order, **SEAL)
    dramatiq.set_encoder(encoder)
    try:
        broker = StubBroker()
        backend = StubBackend(encoder=encoder)
        broker.add_middleware(Results(backend=backend))

        @dramatiq.actor(broker=broker, store_results=True)
        def double(order: Order) -> Order:
            return doubled(order)

        worker = dramatiq.Worker(broker, worker_threads=2, worker_timeout=50)
        worker.start()
        try:
            sent = [double.send(Order(number, ["x"])) for number in range(10)]
            found = [message.get_result(backend=backend, block=True, timeout=5000) for message in sent]
            assert found == [Order(number * 2, ["x"]) for number in range(10)]
        finally:
            worker.stop()
    finally:
        dramatiq.set_encoder(before)


# --- arq ---


class TestArq(Direct):
    def codec(self, **options: Any) -> Any:
        from types import SimpleNamespace

        from holdall.integrations.arq import hold

        made = hold(**options)
        return SimpleNamespace(dumps=made["job_serializer"], loads=made["job_deserializer"])


async def test_arq_worker(redis_server: int, redis_url: str) -> None:
    from arq import create_pool
    from arq.connections import RedisSettings
    from arq.worker import Worker, func

    from holdall.integrations.arq import hold

    async def double(context: Any, order: Order) -> Order:
        return doubled(order)

    async def fail(context: Any) -> None:
        raise LookupError("gone")

    ours = hold(types=Order, **SEAL)
    pool = await create_pool(RedisSettings(port=redis_server), **ours)
    jobs = [await pool.enqueue_job("double", Order(number, ["x"])) for number in range(5)]
    failed = await pool.enqueue_job("fail")
    worker = Worker(
        [func(double, name="double"), func(fail, name="fail")],
        redis_pool=pool,
        burst=True,
        poll_delay=0.01,
        max_tries=1,
        **ours,
    )
    await worker.main()
    assert [await job.result(timeout=5) for job in jobs] == [Order(number * 2, ["x"]) for number in range(5)]
    with pytest.raises(LookupError, match="gone"):
        await failed.result(timeout=5)
    await worker.close()


# --- taskiq ---


class TestTaskiq(Direct):
    def codec(self, **options: Any) -> Any:
        from holdall.integrations.taskiq import HoldSerializer

        made = HoldSerializer(**options)
        made.dumps, made.loads = made.dumpb, made.loadb
        return made


async def test_taskiq_broker() -> None:
    from taskiq import InMemoryBroker

    from holdall.integrations.taskiq import HoldFormatter

    broker = InMemoryBroker().with_formatter(HoldFormatter(types=Order, **SEAL))

    @broker.task
    async def double(order: Order, when: datetime.date) -> Any:
        return doubled(order), when

    await broker.startup()
    when = datetime.date(2026, 1, 2)
    tasks = [await double.kiq(Order(number, ["x"]), when=when) for number in range(5)]
    results = [await task.wait_result(timeout=5) for task in tasks]
    assert [result.return_value for result in results] == [
        (Order(number * 2, ["x"]), when) for number in range(5)
    ]
    await broker.shutdown()
    with pytest.raises(DecodeError):
        broker.formatter.loads(b'{"task_id": "1"}')


# --- APScheduler ---

ran: list[Any] = []


def record(order: Order) -> None:
    ran.append(order)


@pytest.mark.parametrize("store", ["redis", "sqlite"])
def test_apscheduler(store: str, redis_server: int, redis_url: str, tmp_path: Any, caplog: Any) -> None:
    from apscheduler.schedulers.background import BackgroundScheduler
    from apscheduler.triggers.combining import AndTrigger, OrTrigger
    from apscheduler.triggers.cron import CronTrigger
    from apscheduler.triggers.date import DateTrigger
    from apscheduler.triggers.interval import IntervalTrigger

    from holdall.integrations import apscheduler as ours

    def made(**options: Any) -> Any:
        if store == "redis":
            return ours.RedisJobStore.using(**options)(port=redis_server)
        return ours.SQLAlchemyJobStore.using(**options)(url=f"sqlite:///{tmp_path}/jobs.db")

    zone = datetime.timezone.utc
    triggers = {
        "cron": CronTrigger(hour="*/2", minute="5,10", day_of_week="mon-fri", timezone=zone, jitter=3),
        "interval": IntervalTrigger(minutes=7, timezone=zone),
        "date": DateTrigger(datetime.datetime(2099, 1, 2, tzinfo=zone)),
        "or": OrTrigger([CronTrigger(hour=1, timezone=zone), IntervalTrigger(hours=3, timezone=zone)]),
        "and": AndTrigger(
            [
                CronTrigger(hour=1, minute=0, timezone=zone),
                CronTrigger(day_of_week="mon", hour=1, minute=0, timezone=zone),
            ]
        ),
    }
    first = BackgroundScheduler(jobstores={"default": made(types=Order)}, timezone=zone)
    first.start(paused=True)
    for name, trigger in triggers.items():
        first.add_job(record, trigger, [Order(1, [name])], id=name)
    times = {job.id: job.next_run_time for job in first.get_jobs()}
    first.shutdown()
    second = BackgroundScheduler(jobstores={"default": made(types=Order)}, timezone=zone)
    second.start(paused=True)
    jobs = {job.id: job for job in second.get_jobs()}
    assert set(jobs) == set(triggers)
    for name, job in jobs.items():
        assert str(job.trigger) == str(triggers[name]) and repr(job.trigger) == repr(triggers[name])
        assert job.args == (Order(1, [name]),) and job.next_run_time == times[name]
    second.add_job(
        record, "date", [Order(2, [])], run_date=datetime.datetime.now(zone), misfire_grace_time=60
    )
    second.resume()
    deadline = time.monotonic() + 10
    while not ran and time.monotonic() < deadline:
        time.sleep(0.02)
    second.shutdown()
    assert ran.pop() == Order(2, [])
    # Sealed: jobs that others wrote are not even looked at, and removed as APScheduler does with what it can't restore.
    third = BackgroundScheduler(jobstores={"default": made(types=Order, **SEAL)}, timezone=zone)
    third.start(paused=True)
    assert third.get_jobs() == [] and "Unable to restore job" in caplog.text
    third.add_job(record, triggers["cron"], [Order(3, [])], id="sealed")
    assert third.get_jobs()[0].args == (Order(3, []),)
    third.shutdown()
    with pytest.raises(ValueError, match="no misses"):
        made(unreadable="miss")


def test_apscheduler_triggers_of_hostile_data() -> None:
    from holdall.integrations.apscheduler import _raised

    for lowered in (
        ("cron", 5),
        ("date", {}),
        ("other", {}),
        (),
        ("and", [("date", None)], 0),
        ("cron", {"hour": "?"}),
    ):
        with pytest.raises(DecodeError, match="not a trigger"):
            _raised(lowered)


def test_none_of_them_takes_what_is_not_permitted() -> None:
    from holdall.integrations.rq import HoldSerializer

    with pytest.raises(UnknownTypeError):
        HoldSerializer.loads(HoldSerializer.dumps(Order(1, [])))
    assert asyncio.iscoroutinefunction(test_arq_worker)
