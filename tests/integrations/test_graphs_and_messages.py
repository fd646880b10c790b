"""LangGraph, pyzmq, Kafka, NATS."""

from __future__ import annotations

import asyncio
import operator
import time
from typing import Annotated, Any, TypedDict

import numpy as np
import pytest

import holdall
from holdall import DecodeError, Seal, UnknownTypeError

from .contract import KEY, VALUES, Contract, Order, Stranger
from .servers import started
from .test_queues import Direct

# --- LangGraph ---


class State(TypedDict):
    messages: Annotated[list, operator.add]
    order: Any
    seen: set


def test_langgraph_checkpoints(tmp_path: Any) -> None:
    from langchain_core.messages import AIMessage, HumanMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import END, START, StateGraph

    from holdall.integrations.langgraph import HoldSerializer

    def answer(state: Any) -> Any:
        return {
            "messages": [AIMessage("hello", additional_kwargs={"n": 1})],
            "order": Order(2, ["y"]),
            "seen": {1, ("a",)},
        }

    graph = StateGraph(State)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    config: Any = {"configurable": {"thread_id": "1"}}

    def run(saver: Any) -> Any:
        app = graph.compile(checkpointer=saver)
        app.invoke({"messages": [HumanMessage("hi")], "order": Order(1, ["x"]), "seen": set()}, config)
        return state(saver)

    def state(saver: Any) -> Any:
        return graph.compile(checkpointer=saver).get_state(config).values

    ours = HoldSerializer(types=Order, seal=Seal(KEY, context="graph"))
    for values in (run(InMemorySaver(serde=ours)),):
        assert [message.content for message in values["messages"]] == ["hi", "hello"]
        assert type(values["messages"][1]) is AIMessage and values["messages"][1].additional_kwargs == {
            "n": 1
        }
        assert values["order"] == Order(2, ["y"]) and values["seen"] == {1, ("a",)}
    path = str(tmp_path / "graph.db")
    with SqliteSaver.from_conn_string(path) as before:
        run(before)
    with SqliteSaver.from_conn_string(path) as saver:
        saver.serde = HoldSerializer(types=Order, previous=JsonPlusSerializer())
        assert [message.content for message in state(saver)["messages"]] == ["hi", "hello"]
        assert run(saver)["order"] == Order(2, ["y"])
        saver.serde = HoldSerializer(types=Order)
        values = state(saver)
        assert [message.content for message in values["messages"]][-1] == "hello"


def test_langgraph_serializer() -> None:
    from holdall.integrations.langgraph import HoldSerializer

    serde = HoldSerializer(types=Order)
    for value in [*VALUES, None, b"bytes", np.arange(3)]:
        kind, data = serde.dumps_typed(value)
        made = serde.loads_typed((kind, data))
        assert kind == "hold" and ((made == value).all() if isinstance(value, np.ndarray) else made == value)
    with pytest.raises(holdall.EncodeError):
        serde.dumps_typed(len)  # not lost: refused
    with pytest.raises(UnknownTypeError):
        serde.loads_typed(serde.dumps_typed(Stranger("x")))
    for foreign in (
        ("msgpack", b"\x80"),
        ("json", b"{}"),
        ("pickle", b"\x80\x04N."),
        ("hold", b"\x80\x04N."),
    ):
        with pytest.raises(DecodeError):
            serde.loads_typed(foreign)
    with pytest.raises(TypeError, match="previous="):
        HoldSerializer(old=len)


# --- pyzmq ---


class TestPyzmq(Contract):
    has_misses = False

    def open(self, **options: Any) -> Any:
        from holdall.integrations.pyzmq import Messages

        options.pop("compress", None)
        return {"messages": Messages(**options)}

    def put(self, store: Any, value: Any) -> None:
        store["parts"] = store["messages"].parts(value)

    def get(self, store: Any) -> Any:
        return store["messages"].of([bytes(part) for part in store["parts"]])

    def plant(self, store: Any, data: bytes) -> None:
        store["parts"] = [data]

    def raw(self, store: Any) -> bytes:
        return store["parts"][0]

    def test_buffers_are_parts(self) -> None:
        import zmq

        from holdall.integrations.pyzmq import Messages

        value = {"array": np.arange(1_000_000), "order": Order(1, ["x"]), "more": [np.ones((300, 300))] * 2}
        with zmq.Context() as context, context.socket(zmq.PAIR) as near, context.socket(zmq.PAIR) as far:
            near.bind("inproc://tests")
            far.connect("inproc://tests")
            for options in ({}, {"seal": Seal(KEY)}):
                messages = Messages(types=Order, **options)
                assert len(messages.parts(value)) == (1 if options else 3)
                for _ in range(3):
                    messages.send(near, value)
                    made = messages.receive(far)
                    assert (made["array"] == value["array"]).all() and made["order"] == value["order"]
                    assert made["more"][0] is made["more"][1] and (made["more"][0] == 1).all()
            near.send_multipart([holdall.dumps([1]), b"extra"])
            with pytest.raises(DecodeError):
                Messages().receive(far)
        with pytest.raises(ValueError, match="compress"):
            Messages(compress="zstd")

    async def test_asyncio(self) -> None:
        import zmq
        import zmq.asyncio

        from holdall.integrations.pyzmq import Messages

        messages = Messages()
        with (
            zmq.asyncio.Context() as context,
            context.socket(zmq.PAIR) as near,
            context.socket(zmq.PAIR) as far,
        ):
            near.bind("inproc://async")
            far.connect("inproc://async")
            await messages.send_async(near, {"a": np.arange(10_000)})
            assert (await messages.receive_async(far))["a"].sum() == np.arange(10_000).sum()


# --- Kafka ---


class TestKafka(Direct):
    def codec(self, **options: Any) -> Any:
        from types import SimpleNamespace

        from holdall.integrations.kafka import Deserializer, Serializer

        return SimpleNamespace(dumps=Serializer(**options), loads=Deserializer(**options))


@pytest.fixture(scope="module")
def kafka() -> Any:
    """librdkafka's own broker of the tests, on loopback."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": "", "test.mock.num.brokers": 1})
    broker = next(iter(producer.list_topics(timeout=10).brokers.values()))
    yield f"{broker.host}:{broker.port}"
    producer.flush(5)


def test_confluent_kafka(kafka: str) -> None:
    from confluent_kafka import DeserializingConsumer, SerializingProducer
    from confluent_kafka.error import ValueDeserializationError

    from holdall.integrations.kafka import Deserializer, Serializer

    seal = Seal(KEY, context="orders")
    producer = SerializingProducer({"bootstrap.servers": kafka, "value.serializer": Serializer(seal=seal)})
    values = [Order(1, ["x"]), {"a": {1}}, None, [np.int64(4)]]
    for value in values:
        producer.produce("orders", value=value, key="key")
    plain = SerializingProducer({"bootstrap.servers": kafka, "value.serializer": Serializer()})
    producer.flush(10)
    plain.produce("orders", value="not sealed", key="key")
    plain.flush(10)
    consumer = DeserializingConsumer({
        "bootstrap.servers": kafka, "group.id": "tests", "auto.offset.reset": "earliest",
        "value.deserializer": Deserializer(types=Order, seal=seal),
    })  # fmt: skip
    consumer.subscribe(["orders"])
    found: list[Any] = []
    deadline = time.monotonic() + 20
    try:
        with pytest.raises(ValueDeserializationError, match="not sealed"):
            while time.monotonic() < deadline:
                message = consumer.poll(0.5)
                if message is not None and message.error() is None:
                    found.append(message.value())
    finally:
        consumer.close()
    assert found == values


def test_kafka_python() -> None:
    """What its clients call. There is no broker here that its protocol gets on with: librdkafka's is too old for it."""
    from kafka import KafkaProducer

    from holdall.integrations.kafka import Deserializer, Serializer

    serializer, deserializer = Serializer(), Deserializer(types=Order)
    for value in [*VALUES, None]:
        data = KafkaProducer._serialize(None, serializer, "orders", [], value)
        assert data == serializer.serialize("orders", value) and (data is None) == (value is None)
        assert (
            deserializer.deserialize("orders", [], data) == value == deserializer.deserialize("orders", data)
        )


async def test_aiokafka(kafka: str) -> None:
    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

    from holdall.integrations.kafka import Deserializer, Serializer

    values = [Order(1, ["x"]), {"a": {1}}, None]
    producer = AIOKafkaProducer(bootstrap_servers=kafka, value_serializer=Serializer())
    await producer.start()
    try:
        for value in values:
            await producer.send_and_wait("aio", value, key=b"key")
    finally:
        await producer.stop()
    consumer = AIOKafkaConsumer(
        "aio",
        bootstrap_servers=kafka,
        value_deserializer=Deserializer(types=Order),
        auto_offset_reset="earliest",
    )
    await consumer.start()
    try:
        assert [(await asyncio.wait_for(consumer.getone(), 10)).value for _ in values] == values
    finally:
        await consumer.stop()


# --- NATS ---


@pytest.fixture(scope="module")
def nats_url() -> Any:
    with started("nats-server", lambda port: ["-a", "127.0.0.1", "-p", str(port)]) as port:
        yield f"nats://127.0.0.1:{port}"


async def test_nats(nats_url: str) -> None:
    import nats

    from holdall.integrations.nats import Messages

    messages = Messages(types=Order, seal=Seal(KEY))
    client = await nats.connect(nats_url)
    try:
        subscription = await client.subscribe("orders")
        for value in VALUES:
            await messages.publish(client, "orders", value)
            assert messages.of(await subscription.next_msg(timeout=5)) == value
        await client.publish("orders", b"not ours")
        with pytest.raises(DecodeError):
            messages.of(await subscription.next_msg(timeout=5))

        async def answer(message: Any) -> None:
            order = messages.of(message)
            await messages.respond(message, Order(order.number * 2, order.lines))

        await client.subscribe("double", cb=answer)
        assert await messages.request(client, "double", Order(4, ["x"]), timeout=5) == Order(8, ["x"])
    finally:
        await client.close()


class TestNats(Direct):
    def codec(self, **options: Any) -> Any:
        from types import SimpleNamespace

        from holdall.integrations.nats import Messages

        messages = Messages(**options)
        return SimpleNamespace(
            dumps=messages.codec.dumps, loads=lambda data: messages.of(SimpleNamespace(data=data))
        )
