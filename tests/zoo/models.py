"""Classes with fields: models, validation, databases."""

from __future__ import annotations

from typing import Any, Iterator

from tests.zoo.specimens import zoo


@zoo("attrs", "attrs", "attr", "attr.validators", "attr.converters")
def attrs_objects() -> Iterator[Any]:
    from tests.zoo import models_classes as c

    yield "define", c.Defined(1), repr
    yield "frozen", c.Frozen(1), lambda x: {x: 1}[c.Frozen(1)]
    yield "slots off", c.WithDict(1), lambda x: x.b
    key = c.Cached("k")
    hash(key)
    yield "cache_hash", key, lambda x: {x: 1}[c.Cached("k")]
    yield "cache_hash as key", {key: 1}, lambda d: d[c.Cached("k")]
    yield "exception", c.Failed(3), lambda e: e.code
    yield "slotted with weak references", c.WeakSlots(1), lambda x: __import__("weakref").ref(x)() is x
    yield "getstate off", c.NoState(1), repr
    yield "on_setattr", c.OnSet(1), repr
    yield "Attribute", __import__("attr").fields(c.Defined).a, lambda a: a.name


@zoo("cattrs")
def cattrs_objects() -> Iterator[Any]:
    import cattrs

    yield "errors", [cattrs.errors.StructureHandlerNotFoundError("m", int)], lambda e: str(e[0])


@zoo("pydantic", "pydantic", "pydantic_core", "pydantic.fields", "pydantic.types", "pydantic.networks")
def pydantic_objects() -> Iterator[Any]:
    import pydantic
    import pydantic_core

    from tests.zoo import models_classes as c

    user = c.User(name="a", tags=["x"], extra_field=1)
    user._secret = 5
    yield "model", user, lambda u: (u.model_dump(), u.model_fields_set, u._secret, u.model_extra)
    yield "nested", c.Team(users=[user, user]), lambda t: (t.users[0] is t.users[1], t.model_dump_json())
    yield "not validated", c.User.model_construct(name="b"), lambda u: u.model_fields_set
    yield "generic", c.Box[int](value=3), lambda b: b.value
    yield "root", c.Root([1, 2]), lambda r: r.root
    yield "dataclass", c.Data(1), repr
    yield "secret", pydantic.SecretStr("s"), lambda s: s.get_secret_value()
    yield "undefined", [pydantic_core.PydanticUndefined], lambda u: u[0] is pydantic_core.PydanticUndefined
    yield (
        "urls",
        [
            pydantic.HttpUrl("http://h/p?q"),
            pydantic_core.Url("http://x/"),
            pydantic_core.MultiHostUrl("http://a,b/"),
        ],
        lambda u: [str(x) for x in u],
    )
    yield "FieldInfo", c.User.model_fields["name"], repr
    yield "TypeAdapter", pydantic.TypeAdapter(list[int]), lambda a: a.validate_python(["1"])
    yield "TzInfo", pydantic_core.TzInfo(3600), lambda z: z.utcoffset(None)
    try:
        c.User(name=[])
    except pydantic.ValidationError as error:
        yield "ValidationError", error, lambda e: e.error_count()


@zoo("pydantic-settings", "pydantic_settings")
def settings_objects() -> Iterator[Any]:
    from tests.zoo import models_settings as c

    yield "settings", c.Settings(), lambda s: s.model_dump()


@zoo("msgspec")
def msgspec_objects() -> Iterator[Any]:
    import msgspec

    from tests.zoo import models_classes as c

    yield "Struct", c.Point(1, [2]), repr
    yield "frozen", c.FrozenPoint(1), lambda p: {p: 1}[c.FrozenPoint(1)]
    yield "weak", c.WeakPoint(1), repr
    yield "dict", c.DictPoint(1), repr
    yield "UNSET", [msgspec.UNSET, msgspec.NODEFAULT], lambda u: u[0] is msgspec.UNSET
    yield "Raw", msgspec.Raw(b"{}"), bytes
    yield "Ext", msgspec.msgpack.Ext(5, b"x"), lambda e: (e.code, e.data)
    yield "Meta", msgspec.Meta(gt=3), lambda m: m.gt
    yield "errors", [msgspec.ValidationError("x")], lambda e: str(e[0])


@zoo("marshmallow", "marshmallow", "marshmallow.fields")
def marshmallow_objects() -> Iterator[Any]:
    import marshmallow

    from tests.zoo import models_classes as c

    yield "Schema", c.UserSchema(), lambda s: s.load({"name": "a"})
    yield "missing", [marshmallow.missing], lambda m: m[0] is marshmallow.missing
    yield (
        "fields",
        [marshmallow.fields.Integer(required=True), marshmallow.validate.Length(max=3)],
        lambda f: f[0].required,
    )
    yield "ValidationError", marshmallow.ValidationError({"a": ["bad"]}), lambda e: e.messages


@zoo("jsonschema")
def jsonschema_objects() -> Iterator[Any]:
    import jsonschema

    yield (
        "error",
        next(jsonschema.Draft7Validator({"type": "string"}).iter_errors(5)),
        lambda e: (e.message, e.validator),
    )


@zoo("SQLAlchemy", "sqlalchemy", "sqlalchemy.orm", "sqlalchemy.types", "sqlalchemy.sql")
def sqlalchemy_objects() -> Iterator[Any]:
    import sqlalchemy as sa
    from sqlalchemy import orm

    from tests.zoo import models_tables as c

    user = c.User(name="a", addresses=[c.Address(email="x"), c.Address(email="y")])
    yield "transient", user, lambda u: ([a.email for a in u.addresses], u.addresses[0].user is u)
    engine = sa.create_engine("sqlite://")
    c.Base.metadata.create_all(engine)
    with orm.Session(engine) as session:
        session.add(c.User(name="b", addresses=[c.Address(email="z")]))
        session.commit()
        loaded = session.scalars(sa.select(c.User).options(orm.selectinload(c.User.addresses))).one()
        yield (
            "attached",
            loaded,
            lambda u: (
                u.name,
                [a.email for a in u.addresses],
                sa.inspect(u).persistent or sa.inspect(u).detached,
            ),
        )
        session.expunge_all()
        yield "detached", loaded, lambda u: (u.name, u.addresses[0].user is u, sa.inspect(u).identity)
        yield "its state", sa.inspect(loaded), lambda s: (s.identity, s.obj() is not None)
        rows = session.execute(sa.text("select 1 as a, 'x' as b")).all()
        yield "rows", rows, lambda r: (r[0].a, r[0]._mapping["b"])
        yield "frozen result", session.execute(sa.text("select 1 as a")).freeze(), lambda f: f().all()
    yield "select", sa.select(c.User).where(c.User.name == "a").limit(3), str
    yield "table", c.Address.__table__, lambda t: [x.name for x in t.columns]
    yield "MetaData", c.Base.metadata, lambda m: sorted(m.tables)
    yield (
        "types",
        [sa.String(5), sa.Numeric(10, 2), sa.Enum("a", "b"), sa.JSON(), sa.DateTime(timezone=True)],
        lambda t: [repr(x) for x in t],
    )
    yield "URL", sa.make_url("postgresql://u:p@h/d"), str
    yield (
        "errors",
        [sa.exc.OperationalError("s", {}, ValueError("x")), sa.exc.NoSuchTableError("t")],
        lambda e: str(e[0]),
    )


@zoo(
    "Django",
    "django.db.models",
    "django.http",
    "django.utils.safestring",
    "django.utils.functional",
    "django.utils.translation",
    "django.core.exceptions",
    "django.forms",
    "django.template",
    "django.utils.datastructures",
)
def django_objects() -> Iterator[Any]:
    import django
    from django.conf import settings

    if not settings.configured:
        settings.configure(
            DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
            INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions"],
            USE_TZ=True,
        )
        django.setup()
    from django.contrib.auth.models import Group, User
    from django.core.exceptions import ValidationError
    from django.core.management import call_command
    from django.db.models import F, Q
    from django.http import HttpResponse, QueryDict
    from django.utils.datastructures import MultiValueDict
    from django.utils.functional import SimpleLazyObject, lazystr
    from django.utils.safestring import mark_safe
    from django.utils.translation import gettext_lazy

    call_command("migrate", verbosity=0)
    user = User(username="a", email="a@example.org")
    yield "unsaved", user, lambda u: (u.username, u._state.adding)
    User.objects.filter(username="b").delete()
    saved = User.objects.create(username="b")
    saved.groups.add(Group.objects.get_or_create(name="g")[0])
    yield "saved", saved, lambda u: (u.pk, u._state.db, [g.name for g in u.groups.all()])
    yield (
        "deferred",
        User.objects.defer("email").get(pk=saved.pk),
        lambda u: (u.get_deferred_fields(), u.email),
    )
    yield (
        "prefetched",
        User.objects.prefetch_related("groups").get(pk=saved.pk),
        lambda u: [g.name for g in u.groups.all()],
    )
    queries = User.objects.filter(username="b")
    list(queries)
    yield "QuerySet", queries, lambda q: ([u.username for u in q], str(q.query))
    yield "values", User.objects.values("username"), list
    yield "Q and F", [Q(a=1) | ~Q(b=2), F("x") + 1], lambda q: repr(q[0])
    yield "field", User._meta.get_field("username"), lambda f: f is User._meta.get_field("username")
    response = HttpResponse(b"body", status=201, headers={"X": "y"})
    response.set_cookie("c", "1")
    yield "HttpResponse", response, lambda r: (r.content, r.status_code, r.headers["x"], r.cookies["c"].value)
    yield "QueryDict", QueryDict("a=1&a=2"), lambda q: (q.getlist("a"), q.urlencode())
    yield "MultiValueDict", MultiValueDict({"a": [1, 2]}), lambda d: (d["a"], d.getlist("a"))
    yield "SafeString", mark_safe("<b>"), lambda s: (type(s).__name__, s.__html__())
    yield "lazy text", [gettext_lazy("Yes"), lazystr("x")], lambda t: [str(x) for x in t]
    yield "SimpleLazyObject", SimpleLazyObject(maker), lambda o: len(o)
    yield "ValidationError", ValidationError({"a": ["bad"]}), lambda e: e.message_dict
    yield "DoesNotExist", User.DoesNotExist("x"), str


def maker() -> list[int]:
    return [1, 2]


@zoo("peewee")
def peewee_objects() -> Iterator[Any]:
    from tests.zoo import models_tables as c

    yield "model", c.Person(name="a"), lambda p: (p.name, p.dirty_fields[0] is c.Person.name)


@zoo("omegaconf")
def omegaconf_objects() -> Iterator[Any]:
    from omegaconf import OmegaConf

    yield (
        "DictConfig",
        OmegaConf.create({"a": 1, "b": ["${a}", 2], "c": {"d": None}}),
        lambda c: (c.b[0], OmegaConf.to_yaml(c)),
    )
    yield "ListConfig", OmegaConf.create([1, {"x": 2}]), lambda c: c[1].x


@zoo("traitlets")
def traitlets_objects() -> Iterator[Any]:
    import traitlets

    from tests.zoo import models_classes as c

    yield "HasTraits", c.Traits(number=3), lambda t: (t.number, t.trait_names())
    yield "Undefined", [traitlets.Undefined], lambda u: u[0] is traitlets.Undefined


@zoo("hypothesis", "hypothesis", "hypothesis.errors")
def hypothesis_objects() -> Iterator[Any]:
    import hypothesis.errors

    yield "errors", [hypothesis.errors.InvalidArgument("x")], lambda e: str(e[0])


@zoo(
    "protobuf",
    "google.protobuf",
    "google.protobuf.struct_pb2",
    "google.protobuf.timestamp_pb2",
    "google.protobuf.descriptor_pb2",
)
def protobuf_objects() -> Iterator[Any]:
    from google.protobuf import struct_pb2, timestamp_pb2

    struct = struct_pb2.Struct()
    struct.update({"a": 1, "b": [True, None]})
    yield "Struct", struct, lambda s: (s["a"], s.SerializeToString(deterministic=True))
    yield "Timestamp", timestamp_pb2.Timestamp(seconds=5), lambda t: t.ToJsonString()


@zoo("pymongo", "bson", "pymongo", "bson.codec_options", "pymongo.errors")
def pymongo_objects() -> Iterator[Any]:
    import bson
    import pymongo
    from bson import codec_options, decimal128, raw_bson, regex, timestamp

    yield (
        "values",
        [
            bson.ObjectId(),
            bson.Int64(5),
            bson.Binary(b"x", 5),
            bson.Code("f", {"a": 1}),
            bson.DBRef("c", 1),
            decimal128.Decimal128("1.5"),
            regex.Regex("a", "i"),
            timestamp.Timestamp(1, 2),
            bson.MinKey(),
            bson.MaxKey(),
        ],
        repr,
    )
    yield "SON", bson.SON([("b", 1), ("a", 2)]), lambda s: list(s)
    yield "RawBSONDocument", raw_bson.RawBSONDocument(bson.encode({"a": 1})), lambda d: d["a"]
    yield "CodecOptions", codec_options.CodecOptions(tz_aware=True), lambda o: o.tz_aware
    yield (
        "operations",
        [
            pymongo.InsertOne({"a": 1}),
            pymongo.IndexModel("a"),
            pymongo.ReadPreference.PRIMARY,
            pymongo.WriteConcern(w=2),
        ],
        repr,
    )
    yield (
        "errors",
        [pymongo.errors.DuplicateKeyError("x", 11000, {"a": 1})],
        lambda e: (e[0].code, e[0].details),
    )
