"""The web."""

from __future__ import annotations

from typing import Any, Iterator

from tests.zoo.specimens import zoo


@zoo("yarl")
def yarl_objects() -> Iterator[Any]:
    from yarl import URL

    yield (
        "URL",
        [URL("http://u:p@h:8080/a b?q=1#f"), URL("http://ü.de/ä")],
        lambda u: ([str(x) for x in u], u[0] / "x", u[1].host),
    )


@zoo("httpx", "httpx")
def httpx_objects() -> Iterator[Any]:
    import httpx

    request = httpx.Request("POST", "http://h/p", json={"a": 1}, headers={"x": "y"})
    request.read()
    yield "Request", request, lambda r: (r.method, str(r.url), r.content, r.headers["x"])
    response = httpx.Response(200, json={"a": 1}, request=request)
    yield "Response", response, lambda r: (r.json(), r.status_code, str(r.request.url))
    yield (
        "values",
        [
            httpx.URL("http://h/p?q"),
            httpx.Headers({"a": "b"}),
            httpx.QueryParams("a=1&a=2"),
            httpx.Timeout(5),
            httpx.Limits(),
            httpx.Cookies({"a": "b"}),
        ],
        lambda v: (v[1]["A"], v[2].get_list("a"), v[3].read),
    )
    yield "errors", [httpx.ConnectTimeout("x", request=request)], lambda e: str(e[0].request.url)


@zoo("requests", "requests", "requests.cookies", "requests.structures")
def requests_objects() -> Iterator[Any]:
    import requests

    session = requests.Session()
    session.headers["X"] = "y"
    session.cookies.set("a", "b")
    yield "Session", session, lambda s: (s.headers["x"], s.cookies["a"], sorted(s.adapters))
    response = requests.Response()
    response.status_code, response._content, response.url = 200, b'{"a": 1}', "http://h/"
    response.headers["A"] = "b"
    yield "Response", response, lambda r: (r.json(), r.ok, r.headers["a"])
    prepared = requests.Request("GET", "http://h/", params={"a": 1}).prepare()
    yield "requests", [requests.Request("GET", "http://h/"), prepared], lambda r: r[1].url
    yield "CaseInsensitiveDict", requests.structures.CaseInsensitiveDict(A=1), lambda d: d["a"]
    yield (
        "errors",
        [requests.ConnectionError("x", request=prepared), requests.JSONDecodeError("m", "doc", 0)],
        lambda e: (e[0].request.url, str(e[1])),
    )


@zoo("aiohttp", "aiohttp", "aiohttp.web")
def aiohttp_objects() -> Iterator[Any]:
    import aiohttp

    yield (
        "values",
        [
            aiohttp.ClientTimeout(5),
            aiohttp.BasicAuth("u", "p"),
            aiohttp.WSMessage(aiohttp.WSMsgType.TEXT, "x", None),
            aiohttp.HttpVersion11,
        ],
        lambda v: (v[0].total, v[1].encode()),
    )
    yield (
        "errors",
        [
            aiohttp.ClientPayloadError("x"),
            aiohttp.InvalidURL("http://x"),
            aiohttp.WSServerHandshakeError(None, (), status=400),
        ],
        lambda e: [str(x) for x in e],
    )
    yield "cookies", aiohttp.DummyCookieJar.__name__


@zoo("urllib3", "urllib3", "urllib3.util", "urllib3.exceptions")
def urllib3_objects() -> Iterator[Any]:
    import urllib3

    headers = urllib3.HTTPHeaderDict(a="b")
    headers.add("A", "c")
    yield "HTTPHeaderDict", headers, lambda h: h.getlist("a")
    yield (
        "values",
        [urllib3.Retry(3, backoff_factor=0.5), urllib3.Timeout(2), urllib3.util.parse_url("http://h:1/p")],
        lambda v: (v[0].total, v[2].port),
    )
    yield (
        "errors",
        [urllib3.exceptions.MaxRetryError(None, "/x"), urllib3.exceptions.LocationParseError("x")],
        lambda e: [str(x) for x in e],
    )


@zoo("starlette", "starlette.datastructures", "starlette.responses", "starlette.exceptions")
def starlette_objects() -> Iterator[Any]:
    from starlette import datastructures as d
    from starlette.exceptions import HTTPException
    from starlette.responses import JSONResponse

    yield (
        "values",
        [
            d.URL("http://h/p?q=1"),
            d.Headers({"a": "b"}),
            d.QueryParams("a=1&a=2"),
            d.Secret("s"),
            d.State({"x": 1}),
            d.CommaSeparatedStrings("a,b"),
        ],
        lambda v: (v[0].path, v[1]["A"], v[2].getlist("a"), str(v[3]), v[4].x),
    )
    yield "response", JSONResponse({"a": 1}), lambda r: (r.body, r.status_code)
    yield (
        "HTTPException",
        HTTPException(404, "no", {"X": "y"}),
        lambda e: (e.status_code, e.detail, e.headers),
    )


@zoo("fastapi", "fastapi")
def fastapi_objects() -> Iterator[Any]:
    import fastapi

    yield "HTTPException", fastapi.HTTPException(404, "no"), lambda e: (e.status_code, e.detail)
    yield "parameters", [fastapi.Query(5, gt=3), fastapi.Header(None)], lambda p: p[0].default


@zoo("flask", "flask", "flask.json.tag", "flask.sessions")
def flask_objects() -> Iterator[Any]:
    import flask

    yield "Config", flask.Config(".", {"A": 1}), lambda c: c["A"]
    yield (
        "Response",
        flask.Response("x", 201, {"A": "b"}),
        lambda r: (r.get_data(), r.status_code, r.headers["a"]),
    )
    yield "Markup", flask.sessions.SecureCookieSession({"a": 1}), dict


@zoo("werkzeug", "werkzeug.datastructures", "werkzeug.exceptions", "werkzeug.wrappers", "werkzeug.routing")
def werkzeug_objects() -> Iterator[Any]:
    from werkzeug import datastructures as d
    from werkzeug import exceptions

    yield (
        "dicts",
        [
            d.MultiDict([("a", 1), ("a", 2)]),
            d.ImmutableMultiDict({"a": 1}),
            d.CombinedMultiDict([d.MultiDict({"a": 1})]),
            d.Headers({"a": "b"}),
            d.ImmutableDict(a=1),
            d.TypeConversionDict(a="1"),
        ],
        lambda x: (x[0].getlist("a"), x[3]["A"]),
    )
    yield (
        "headers",
        [
            d.ETags(["a"]),
            d.ContentRange("bytes", 0, 5),
            d.Authorization("basic", {"username": "u"}),
            d.MIMEAccept([("text/html", 1)]),
            d.RequestCacheControl({"no-cache": None}),
            d.HeaderSet(["a"]),
        ],
        lambda x: [str(y) for y in x],
    )
    yield (
        "errors",
        [exceptions.NotFound("x"), exceptions.BadRequestKeyError("k"), exceptions.MethodNotAllowed(["GET"])],
        lambda e: (e[0].code, e[2].valid_methods),
    )


@zoo("itsdangerous")
def itsdangerous_objects() -> Iterator[Any]:
    import itsdangerous

    yield (
        "signers",
        [itsdangerous.Signer("k"), itsdangerous.URLSafeSerializer("k")],
        lambda s: s[1].loads(s[1].dumps({"a": 1})),
    )
    yield (
        "errors",
        [itsdangerous.BadSignature("m", b"p"), itsdangerous.SignatureExpired("m", b"p")],
        lambda e: e[0].payload,
    )


@zoo(
    "cryptography",
    "cryptography",
    "cryptography.x509",
    "cryptography.hazmat.primitives.asymmetric.rsa",
    "cryptography.hazmat.primitives.asymmetric.ec",
    "cryptography.hazmat.primitives.asymmetric.dsa",
    "cryptography.hazmat.primitives.asymmetric.ed25519",
    "cryptography.hazmat.primitives.hashes",
    "cryptography.hazmat.primitives.ciphers",
    "cryptography.fernet",
)
def cryptography_objects() -> Iterator[Any]:
    import datetime

    from cryptography import x509
    from cryptography.fernet import InvalidToken
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

    yield "numbers", rsa.RSAPublicNumbers(65537, 3233), lambda n: (n.e, n.n)
    yield "private numbers", ec.EllipticCurvePublicNumbers(1, 2, ec.SECP256R1()), lambda n: n.curve.name
    key = ec.generate_private_key(ec.SECP256R1())
    yield "key", key, lambda k: k.private_numbers().private_value
    yield "public key", key.public_key(), lambda k: k.public_numbers()
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "x")])
    yield "Name", name, lambda n: n.rfc4514_string()
    yield "OID", x509.NameOID.COMMON_NAME, lambda o: o.dotted_string
    day = datetime.datetime(2024, 1, 1)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(5)
        .not_valid_before(day)
        .not_valid_after(day + datetime.timedelta(1))
        .sign(key, hashes.SHA256())
    )
    yield "Certificate", certificate, lambda c: c.serial_number
    yield (
        "extensions",
        [x509.BasicConstraints(True, 3), x509.DNSName("x.y"), x509.KeyUsage(*[True] * 9)],
        repr,
    )
    yield "algorithms", [hashes.SHA256(), padding.PKCS1v15()], lambda a: a[0].name
    yield "InvalidToken", InvalidToken(), repr


@zoo("PyJWT", "jwt")
def jwt_objects() -> Iterator[Any]:
    import jwt

    yield "errors", [jwt.ExpiredSignatureError("x"), jwt.MissingRequiredClaimError("c")], lambda e: str(e[1])


@zoo("pyasn1", "pyasn1.type.univ", "pyasn1.type.char")
def pyasn1_objects() -> Iterator[Any]:
    from pyasn1.type import univ

    yield (
        "values",
        [univ.Integer(5), univ.OctetString(b"x"), univ.ObjectIdentifier("1.2.3")],
        lambda v: [x.prettyPrint() for x in v],
    )


@zoo("redis", "redis", "redis.exceptions", "redis.backoff", "redis.retry")
def redis_objects() -> Iterator[Any]:
    import redis
    from redis.backoff import ExponentialBackoff
    from redis.retry import Retry

    yield "Retry", Retry(ExponentialBackoff(), 3), lambda r: type(r).__name__
    yield "errors", [redis.ConnectionError("x"), redis.ResponseError("y")], lambda e: str(e[0])


@zoo(
    "boto3",
    "boto3",
    "botocore",
    "botocore.exceptions",
    "botocore.config",
    "botocore.credentials",
    "boto3.dynamodb.types",
    "boto3.dynamodb.conditions",
)
def boto3_objects() -> Iterator[Any]:
    from boto3.dynamodb.conditions import Attr, Key
    from boto3.dynamodb.types import Binary
    from botocore.config import Config
    from botocore.credentials import Credentials
    from botocore.exceptions import ClientError, NoCredentialsError

    yield "Binary", Binary(b"x"), lambda b: b.value
    yield "conditions", [Key("a").eq(1) & Attr("b").gt(2)], lambda c: c[0].expression_operator
    yield "Config", Config(region_name="x", retries={"max_attempts": 3}), lambda c: (c.region_name, c.retries)
    yield "Credentials", Credentials("a", "b"), lambda c: c.access_key
    yield (
        "errors",
        [ClientError({"Error": {"Code": "404"}}, "Get"), NoCredentialsError()],
        lambda e: (e[0].response, str(e[1])),
    )


@zoo("idna", "idna", "certifi")
def idna_objects() -> Iterator[Any]:
    import idna

    yield "errors", [idna.IDNAError("x"), idna.InvalidCodepoint("y")], lambda e: str(e[0])
