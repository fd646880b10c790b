"""Django's models and QuerySets, without trust, in a program that has the applications."""

from __future__ import annotations

import pathlib
import subprocess
import sys

PROGRAM = """
import django, holdall
from django.conf import settings

settings.configure(
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    USE_TZ=True,
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)
django.setup()
from django.core.management import call_command

call_command("migrate", verbosity=0)
from django.contrib.auth.models import Group, Permission, User
from django.utils.safestring import SafeString, mark_safe

holdall.register_known("django")


def again(value):
    return holdall.loads(holdall.dumps(value))


ann, group = User.objects.create_user("ann", password="x"), Group.objects.create(name="g")
ann.groups.add(group)
loaded = again(ann)
assert loaded == ann and type(loaded) is User and loaded.username == "ann"
assert loaded._state.db == "default" and not loaded._state.adding
loaded.save()
permission = Permission.objects.select_related("content_type").first()
assert "content_type" in again(permission)._state.fields_cache
deferred = User.objects.only("username").get()
assert again(deferred).get_deferred_fields() == deferred.get_deferred_fields()
found = Permission.objects.order_by("-id")[:5]
loaded = again(found)
assert list(loaded) == list(found) and loaded.filter(id=found[0].id).count() == 1
assert list(again(User.objects.prefetch_related("groups"))[0].groups.all()) == [group]
assert type(again(mark_safe("<b>"))) is SafeString
new = again(User(username="new"))
assert new._state.adding and new.pk is None
try:
    holdall.dumps(User.objects.values())
except holdall.EncodeError as error:
    assert "make a list" in str(error)
data = holdall.dumps(ann)
for at in range(len(data)):
    for byte in (0, 0x7F, 0xFF):
        try:
            holdall.loads(data[:at] + bytes([byte]) + data[at + 1 :])
        except holdall.HoldallError:
            pass
print("fine")
"""


def test_models_and_query_sets() -> None:
    root = pathlib.Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        env={"PYTHONPATH": str(root / "python")},
        capture_output=True,
        text=True,
    )
    assert run.stdout == "fine\n", run.stderr[-3000:]
