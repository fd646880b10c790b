"""Starlette, FastAPI and Litestar."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest

import holdall
from holdall import bson, msgpack

from .contract import Order

FORMS = {
    "application/x-hold": (holdall.dumps, holdall.loads),
    "application/msgpack": (msgpack.dumps, msgpack.loads),
    "application/x-msgpack": (msgpack.dumps, msgpack.loads),
    "application/bson": (bson.dumps, bson.loads),
    "application/json": (lambda value: json.dumps(value).encode(), json.loads),
}
GOOD = {"number": 5, "lines": ["a", "b"]}


def starlette() -> Any:
    from starlette.applications import Starlette
    from starlette.routing import Route
    from starlette.testclient import TestClient

    from holdall.integrations.starlette import HoldResponse, read, respond

    async def orders(request: Any) -> Any:
        order = await read(request, type=Order, most=1000)
        assert type(order) is Order
        return respond(request, {"number": order.number, "lines": order.lines})

    async def plain(request: Any) -> Any:
        return HoldResponse({("a", 1): {2}})

    app = Starlette(routes=[Route("/orders", orders, methods=["POST"]), Route("/plain", plain)])
    return TestClient(app)


def fastapi() -> Any:
    from fastapi import Depends, FastAPI, Request
    from starlette.testclient import TestClient

    from holdall.integrations.starlette import HoldResponse, body, respond

    app = FastAPI()

    async def orders(request: Any, order: Any) -> Any:
        assert type(order) is Order
        return respond(request, {"number": order.number, "lines": order.lines})

    orders.__annotations__ = {"request": Request, "order": Annotated[Order, Depends(body(Order, most=1000))]}
    app.post("/orders")(orders)

    async def plain() -> Any:
        return HoldResponse({("a", 1): {2}})

    plain.__annotations__ = {}
    app.get("/plain")(plain)
    return TestClient(app)


def litestar() -> Any:
    import litestar
    from litestar.testing import TestClient

    from holdall.integrations.litestar import read, respond

    async def orders(request: Any) -> Any:
        order = await read(request, type=Order)
        return respond(request, {"number": order.number, "lines": order.lines}, status_code=200)

    orders.__annotations__ = {"request": litestar.Request, "return": litestar.Response}
    return TestClient(litestar.Litestar([litestar.post("/orders")(orders)]))


@pytest.fixture(params=[starlette, fastapi, litestar], ids=lambda make: make.__name__)
def client(request: Any) -> Any:
    with request.param() as client:
        client.is_litestar = request.param is litestar
        yield client


def kinds(client: Any) -> list[str]:
    return [kind for kind in FORMS if not (client.is_litestar and kind == "application/json")]


def test_each_form_in_and_out(client: Any) -> None:
    for sent in kinds(client):
        for wanted in FORMS:
            response = client.post(
                "/orders", content=FORMS[sent][0](GOOD), headers={"content-type": sent, "accept": wanted}
            )
            assert response.status_code == 200, response.text
            assert (
                response.headers["content-type"].partition(";")[0] == wanted
                and response.headers["vary"] == "accept"
            )
            assert FORMS[wanted][1](response.content) == GOOD


def test_what_the_client_prefers(client: Any) -> None:
    for accept, kind in {
        "*/*": "application/json",
        "application/msgpack;q=0.5, application/x-hold": "application/x-hold",
        "application/x-hold;q=0.1, application/msgpack;q=0.9": "application/msgpack",
        "text/html, application/bson;q=0.8, */*;q=0.1": "application/bson",
    }.items():
        response = client.post(
            "/orders",
            content=msgpack.dumps(GOOD),
            headers={"content-type": "application/msgpack", "accept": accept},
        )
        assert response.headers["content-type"].partition(";")[0] == kind, accept


def test_bad_input_is_a_4xx_with_the_path(client: Any) -> None:
    for kind in kinds(client):
        data = FORMS[kind][0]({"number": 5, "lines": ["a", 7]})
        response = client.post("/orders", content=data, headers={"content-type": kind})
        assert response.status_code == (400 if client.is_litestar else 422)
        assert "lines" in response.text and "1" in response.text
        for damaged in (FORMS[kind][0](GOOD)[:-2], b"", b"\xc1\xff"):
            assert client.post("/orders", content=damaged, headers={"content-type": kind}).status_code in (
                400,
                422,
            )
    response = client.post("/orders", content=b"x", headers={"content-type": "text/plain"})
    assert response.status_code == 415 and "application/x-hold" in response.text
    trusted = holdall.dumps(print, trust=True)
    assert (
        client.post("/orders", content=trusted, headers={"content-type": "application/x-hold"}).status_code
        == 400
    )
    deep: Any = []
    for _ in range(500):
        deep = [deep]
    response = client.post(
        "/orders", content=holdall.dumps(deep), headers={"content-type": "application/x-hold"}
    )
    assert response.status_code in (400, 422)


def test_sizes_and_responses(client: Any) -> None:
    if client.is_litestar:
        pytest.skip("Litestar limits bodies itself: request_max_body_size")
    data = holdall.dumps({"number": 5, "lines": ["x" * 2000]})
    assert (
        client.post("/orders", content=data, headers={"content-type": "application/x-hold"}).status_code
        == 413
    )
    response = client.get("/plain")
    assert response.headers["content-type"] == "application/x-hold" and holdall.loads(response.content) == {
        ("a", 1): {2}
    }
    refused = {"content-type": "application/x-hold", "accept": "text/html"}
    assert client.post("/orders", content=holdall.dumps(GOOD), headers=refused).status_code == 406
