"""What systems do differently with files: all of the package that depends on the system, but how paths are written, stands here."""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import suppress

# Windows translates the ends of lines where it is not told otherwise.
BINARY: int = getattr(os, "O_BINARY", 0)

# Whether a file can be replaced while it is open.
REPLACES_OPEN = sys.platform != "win32"

if sys.platform == "win32":
    import _winapi
    import msvcrt
    import time

    _SHARE_READ = 1
    _OPEN_ALWAYS = 4
    _ERROR_SHARING_VIOLATION = 32

    def open_alone(path: str) -> int:
        """A descriptor to read and write the file at `path`, which is made if it is not there. Nobody else can write to it, replace or
        delete it while it is open. Raises BlockingIOError: somebody does already."""
        try:
            # A lock would keep others from reading, too: that nobody else may write is said where the file is opened.
            handle = _winapi.CreateFile(
                path,
                _winapi.GENERIC_READ | _winapi.GENERIC_WRITE,
                _SHARE_READ,
                _winapi.NULL,
                _OPEN_ALWAYS,
                0,
                _winapi.NULL,
            )
        except OSError as error:
            error.filename = path
            if error.winerror == _ERROR_SHARING_VIOLATION:
                raise _taken(path) from None
            raise
        return msvcrt.open_osfhandle(handle, os.O_RDWR | BINARY | os.O_NOINHERIT)

    def replace(path: str, target: str) -> None:
        """Rename a file to the name of another, which it replaces. Windows refuses while somebody has that one open: here it is tried for half
        a second, as others who replace it at the same time, and what looks for viruses, are soon done."""
        for wait in (0.001, 0.01, 0.1, 0.4):
            try:
                os.replace(path, target)
                return
            except PermissionError:
                time.sleep(wait)
        os.replace(path, target)

    def keep_owner_and_mode(descriptor: int, old: os.stat_result) -> None:
        """Nothing: a file gets the rights that its folder says."""

    def sync_folder(folder: str) -> None:
        """Nothing: there is no call for it. NTFS keeps a journal of names."""

else:
    import fcntl

    def open_alone(path: str) -> int:
        """A descriptor to read and write the file at `path`, which is made if it is not there. Nobody else gets one from here while it
        is open. Raises BlockingIOError: somebody has one already."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise _taken(path) from None
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def replace(path: str, target: str) -> None:
        """Rename a file to the name of another, which it replaces."""
        os.replace(path, target)

    def keep_owner_and_mode(descriptor: int, old: os.stat_result) -> None:
        """Give a file the owner and the mode of the one that it will replace."""
        new = os.fstat(descriptor)
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
            # Only root may change the owner; for others the replacement is their own.
            with suppress(PermissionError):
                os.fchown(descriptor, old.st_uid, old.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode))

    def sync_folder(folder: str) -> None:
        """Make a rename permanent; without this a crash may bring the old file back (never a mixture)."""
        try:
            descriptor = os.open(folder, os.O_RDONLY)
        except PermissionError:
            return  # a folder that may be written but not listed
        try:
            os.fsync(descriptor)
        except OSError as error:
            # Some network file systems don't support this for folders.
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
        finally:
            os.close(descriptor)


def _taken(path: str) -> BlockingIOError:
    return BlockingIOError(errno.EWOULDBLOCK, "another Writer has the log open", path)
