"""Django: instances of the models of all installed applications, QuerySets that were evaluated, safe text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import django
from django.apps import apps
from django.db import DJANGO_VERSION_PICKLE_KEY
from django.db.models import QuerySet
from django.db.models.base import ModelState
from django.db.models.query import ModelIterable
from django.utils.safestring import SafeString

from .._bundles import Known
from .._core import EncodeError
from ._checks import exact, parts

if TYPE_CHECKING:
    from collections.abc import Iterator


def known() -> Iterator[Known]:
    apps.check_models_ready()
    for model in apps.get_models(include_auto_created=True):
        meta = model._meta
        yield Known(
            model, f"django.{meta.app_label}.{meta.object_name}", _instance, _fill_instance, fills=True
        )
    yield Known(QuerySet, "django.QuerySet", _query_set, _query_set_of)
    yield Known(SafeString, "django.SafeString", str.__str__, lambda text: SafeString(exact(text, str)))


def _instance(instance: Any) -> Any:
    fields = instance.__getstate__()
    state = fields.pop("_state")
    return fields, state.db, state.adding, state.fields_cache or None, django.__version__


def _fill_instance(instance: Any, stored: Any) -> None:
    fields, db, adding, cached, version = parts(stored, 5)
    if not all(type(name) is str for name in exact(fields, dict)) or "_state" in fields:
        raise TypeError("expected the names of fields")
    state = ModelState()
    state.db, state.adding = (None if db is None else exact(db, str)), exact(adding, bool)
    state.fields_cache = {} if cached is None else exact(cached, dict)
    # Warns of another version, as Django does for pickles.
    instance.__setstate__({**fields, "_state": state, DJANGO_VERSION_PICKLE_KEY: exact(version, str)})


def _query_set(query_set: Any) -> Any:
    if query_set._iterable_class is not ModelIterable:
        raise EncodeError("can't store a `QuerySet` of values: make a list of it first")
    query_set._fetch_all()
    meta = query_set.model._meta
    return meta.label, query_set._db, query_set._result_cache


def _query_set_of(stored: Any) -> Any:
    label, using, found = parts(stored, 3)
    model = apps.get_model(exact(label, str))
    if not all(type(one) is model for one in exact(found, list)):
        raise TypeError("expected instances of the model")
    # What is asked of it further is asked of these objects.
    query_set = QuerySet(model, using=None if using is None else exact(using, str)).filter(
        pk__in=[one.pk for one in found]
    )
    query_set._result_cache = found
    return query_set
