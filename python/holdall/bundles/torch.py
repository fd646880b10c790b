"""PyTorch: tensors and parameters by their storages, of which each is stored once, whoever shares it; sizes, dtypes and devices."""

from __future__ import annotations

import ctypes
import sys
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .._bundles import Known
from .._core import EncodeError
from ._checks import exact, parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Dtypes of whole bytes of which any are a value, or nearly: quantized ones need more than their bytes say.
_DTYPES: dict[str, Any] = {
    name: getattr(torch, name)
    for name in (
        *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
        *("float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128"),
        *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
    )
    if hasattr(torch, name)
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_LAYOUTS: dict[str, Any] = {
    name: getattr(torch, name)
    for name in ("strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc")
}
_FORMATS: dict[str, Any] = {
    name: getattr(torch, name)
    for name in ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
}
_BY_ROWS = frozenset((torch.sparse_csr, torch.sparse_bsr))
# Newer versions have no named tensors.
_is_named: Any = getattr(torch.Tensor, "has_names", lambda tensor: False)
# PyTorch has no more, and NumPy neither.
_MOST_DIMENSIONS = 64
# PyTorch's own storages begin at such addresses, or better ones.
_ALIGNMENT = 16


def known() -> Iterator[Known]:
    if not _keeps_storages() or sys.byteorder != "little":
        raise ImportError(f"PyTorch 2.1 or newer on a little-endian machine, and this is {torch.__version__}")
    yield Known(torch.Tensor, "torch.Tensor", _tensor, _tensor_of)
    yield Known(torch.nn.Parameter, "torch.nn.Parameter", _tensor, _parameter_of)
    yield Known(torch.UntypedStorage, "torch.UntypedStorage", _storage, _storage_of)
    yield Known(torch.Size, "torch.Size", tuple, _size_of)
    yield Known(
        torch.dtype, "torch.dtype", lambda dtype: str(dtype).removeprefix("torch."), _one_of(torch.dtype)
    )
    yield Known(
        torch.layout, "torch.layout", lambda layout: str(layout).removeprefix("torch."), _LAYOUTS.__getitem__
    )
    yield Known(
        torch.memory_format,
        "torch.memory_format",
        lambda form: str(form).removeprefix("torch."),
        _FORMATS.__getitem__,
    )
    # The state dicts of modules have versions beside their items.
    yield Known(
        OrderedDict,
        "torch.OrderedDict",
        lambda state: (dict(state), vars(state)),
        _state_dict_of,
        remaining=True,
    )
    yield Known(torch.device, "torch.device", lambda device: (device.type, device.index), _device_of)


def _keeps_storages() -> bool:
    """Whether a storage is one and the same object as long as there is a tensor of it: that tells which tensors share one."""
    tensor = torch.empty(1)
    try:
        tensor.untyped_storage()._holdall = True
        return hasattr(tensor.untyped_storage(), "_holdall")
    except AttributeError:
        return False


def _one_of(cls: Any) -> Callable[[Any], Any]:
    every = {name: value for name, value in vars(torch).items() if type(value) is cls}
    return every.__getitem__


def _tensor(tensor: Any) -> Any:
    if not tensor.is_cpu or tensor.is_quantized or _is_named(tensor) or tensor._backward_hooks:
        raise _refused(tensor)
    if tensor.layout is not torch.strided:
        return _sparse(tensor)
    name, storage = _NAMES.get(tensor.dtype), tensor.untyped_storage()
    place = tensor.storage_offset(), tuple(tensor.size()), tensor.stride()
    if name is None:
        raise EncodeError(f"can't store a tensor of `{tensor.dtype}`")
    try:
        _check_place(storage.nbytes() // tensor.dtype.itemsize, *place)
    except ValueError:
        raise EncodeError("can't store a tensor whose storage is smaller than it says") from None
    # Twice: as what only this state holds, it would be written anew for each tensor.
    return name, storage, storage, *place, tensor.requires_grad, _rest(tensor)


def _refused(tensor: Any) -> EncodeError:
    if not tensor.is_cpu:
        return EncodeError(
            f"can't store a tensor on `{tensor.device.type}`: `.cpu()` gives one that can be stored"
        )
    what = "quantized" if tensor.is_quantized else "named" if _is_named(tensor) else "hooked"
    return EncodeError(f"can't store a {what} tensor")


def _rest(tensor: Any) -> Any:
    """What few tensors have: whether they are seen as conjugated and negated, and attributes."""
    own = tensor.__dict__
    if own or tensor.is_conj() or tensor.is_neg():
        return tensor.is_conj(), tensor.is_neg(), own or None
    return None


def _with_rest(tensor: Any, needs_grad: Any, rest: Any) -> Any:
    if rest is not None:
        conjugated, negated, own = parts(rest, 3)
        tensor = tensor.conj() if exact(conjugated, bool) else tensor
        tensor = torch._neg_view(tensor) if exact(negated, bool) else tensor
        if own is not None:
            tensor.__dict__.update(exact(own, dict))
    # Raises of dtypes without a gradient.
    return tensor.requires_grad_() if exact(needs_grad, bool) else tensor


def _check_place(count: int, offset: int, sizes: Any, strides: Any) -> None:
    """Raises ValueError: items that are not among the `count` of a storage."""
    if len(sizes) != len(strides) or len(sizes) > _MOST_DIMENSIONS:
        raise ValueError("another number of dimensions")
    end = offset
    for size, stride in zip(sizes, strides, strict=True):
        if not (0 <= size < 1 << 62 and 0 <= stride < 1 << 62):
            raise ValueError("a size out of range")
        end += (size - 1) * stride
    if not 0 <= offset <= count or (0 not in sizes and end >= count):
        raise ValueError("items beyond the storage")


def _tensor_of(stored: Any) -> Any:
    return _plain_of(stored, stored[-1])


def _plain_of(stored: Any, rest: Any) -> Any:
    if len(exact(stored, tuple)) == 5:
        return _sparse_of(*stored)
    name, storage, _, offset, sizes, strides, needs_grad, _ = parts(stored, 8)
    dtype = _DTYPES[name]
    exact(storage, torch.UntypedStorage)
    for number in (offset, *exact(sizes, tuple), *exact(strides, tuple)):
        exact(number, int)
    _check_place(storage.nbytes() // dtype.itemsize, offset, sizes, strides)
    made = torch.empty(0, dtype=dtype).set_(storage, offset, sizes, strides)
    return _with_rest(made, needs_grad, rest)


def _parameter_of(stored: Any) -> Any:
    needs_grad, rest = stored[-2:]
    own = None if rest is None else rest[2]
    # A parameter is another view of what it is made of.
    made = _plain_of((*stored[:-2], False, None), None if rest is None else (*rest[:2], None))
    made = torch.nn.Parameter(made, requires_grad=exact(needs_grad, bool))
    if own is not None:
        made.__dict__.update(exact(own, dict))
    return made


def _sparse(tensor: Any) -> Any:
    """A sparse tensor by its own tensors: places, values."""
    layout, sizes = str(tensor.layout).removeprefix("torch."), tuple(tensor.size())
    if layout == "sparse_coo":
        inner: Any = (tensor._indices(), tensor._values(), tensor.is_coalesced())
    elif layout not in _LAYOUTS:
        raise EncodeError(f"can't store a tensor of `{tensor.layout}`")
    elif tensor.layout in _BY_ROWS:
        inner = (tensor.crow_indices(), tensor.col_indices(), tensor.values())
    else:
        inner = (tensor.ccol_indices(), tensor.row_indices(), tensor.values())
    return (
        layout,
        [one.detach() if type(one) is torch.Tensor else one for one in inner],
        sizes,
        tensor.requires_grad,
        _rest(tensor),
    )


def _sparse_of(layout: Any, inner: Any, sizes: Any, needs_grad: Any, rest: Any) -> Any:
    places, more, last = exact(inner, list)
    for size in exact(sizes, tuple):
        if not 0 <= exact(size, int) < 1 << 62:
            raise ValueError("a size out of range")
    # PyTorch looks at all places, but of other numbers only once it has rounded them.
    if layout == "sparse_coo":
        if exact(places, torch.Tensor).dtype is not torch.int64:
            raise TypeError("expected places of int64")
        made = torch.sparse_coo_tensor(places, exact(more, torch.Tensor), sizes, check_invariants=True)
        # Says the same of values at places that are once each.
        made = made.coalesce() if exact(last, bool) else made
    else:
        if layout == "strided":
            raise ValueError("a layout that is not sparse")
        made = torch.sparse_compressed_tensor(
            exact(places, torch.Tensor),
            exact(more, torch.Tensor),
            exact(last, torch.Tensor),
            sizes,
            layout=_LAYOUTS[layout],
            check_invariants=True,
        )
    return _with_rest(made, needs_grad, rest)


class _Bytes:
    """A storage's memory for NumPy, which holds this as long as it looks there. `Tensor.numpy` would forbid the storage to grow."""

    def __init__(self, storage: Any) -> None:
        self.storage = storage
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": (storage.nbytes(),),
            "data": (storage.data_ptr(), False),
        }


def _storage(storage: Any) -> Any:
    if storage.device.type != "cpu":
        raise EncodeError(f"can't store a storage on `{storage.device.type}`")
    return np.asarray(_Bytes(storage)) if storage.nbytes() else np.empty(0, np.uint8)


def _storage_of(stored: Any) -> Any:
    if exact(stored, np.ndarray).dtype != np.uint8 or stored.ndim != 1 or not stored.flags.c_contiguous:
        raise TypeError("expected bytes")
    if stored.base is None or not stored.flags.writeable or stored.ctypes.data % _ALIGNMENT:
        # Of the message's own bytes a storage is made that can grow; and what a mapped file lends ends the process if it is written to.
        made = torch.UntypedStorage(len(stored))
        ctypes.memmove(made.data_ptr(), stored.ctypes.data, len(stored))
        return made
    return torch.from_numpy(stored).untyped_storage()


def _state_dict_of(stored: Any) -> Any:
    items, own = parts(stored, 2)
    made: OrderedDict[Any, Any] = OrderedDict(exact(items, dict))
    vars(made).update(exact(own, dict))
    return made


def _size_of(stored: Any) -> Any:
    for size in exact(stored, tuple):
        if not -(1 << 63) <= exact(size, int) < 1 << 63:
            raise ValueError("a size out of range")
    return torch.Size(stored)


def _device_of(stored: Any) -> Any:
    kind, index = parts(stored, 2)
    return (
        torch.device(exact(kind, str)) if index is None else torch.device(exact(kind, str), exact(index, int))
    )
