"""PyTorch: what shares a storage, out-of-band buffers, mapped files, what is refused, and states that lie."""

from __future__ import annotations

import pathlib
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import holdall

torch = pytest.importorskip("torch")
holdall.register_known("torch")


def again(value: Any, **options: Any) -> Any:
    return holdall.loads(holdall.dumps(value), **options)


def address(tensor: Any) -> int:
    return int(tensor.untyped_storage().data_ptr())


def test_tensors_that_share_a_storage_share_it_again() -> None:
    whole = torch.arange(10_000.0)
    parts = [whole, whole[:10], whole[100:].view(99, 100).T, torch.nn.Parameter(whole)]
    data = holdall.dumps(parts)
    assert len(data) < 40_500
    made = holdall.loads(data)
    assert len(set(map(address, made))) == 1
    made[0][3] = -5
    assert made[1][3] == -5
    assert made[3].data[3] == -5
    # As pickle, of a slice the whole storage.
    assert again(whole[:1]).untyped_storage().nbytes() == 40_000


def test_tied_parameters() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
    model[1].weight = model[0].weight
    state = model.state_dict()
    made = again(state)
    assert type(made) is OrderedDict
    assert made._metadata == state._metadata
    assert address(made["0.weight"]) == address(made["1.weight"]) != address(made["0.bias"])
    other = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
    other.load_state_dict(made)
    assert torch.equal(other(torch.ones(2, 4)), model(torch.ones(2, 4)))


def test_training_goes_on_where_it_was() -> None:
    def step(model: Any, optimizer: Any) -> Any:
        torch.manual_seed(5)
        optimizer.zero_grad()
        model(torch.rand(8, 3)).pow(2).sum().backward()
        optimizer.step()
        return model.weight.detach().clone()

    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters())
    step(model, optimizer)
    states = again({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
    other = torch.nn.Linear(3, 2)
    other.load_state_dict(states["model"])
    more = torch.optim.Adam(other.parameters())
    more.load_state_dict(states["optimizer"])
    assert torch.equal(step(model, optimizer), step(other, more))


def test_storages_can_grow_as_those_of_pickle() -> None:
    tensor = torch.ones(100)
    made = again(tensor)
    assert tensor.untyped_storage().resizable()
    assert made.untyped_storage().resizable()
    assert made.resize_(200).shape == (200,)


def test_without_a_copy(tmp_path: pathlib.Path) -> None:
    tensor = torch.arange(100_000.0)
    buffers: list[Any] = []
    message = holdall.dumps({"x": tensor}, buffers=buffers)
    assert len(message) < 200
    assert np.shares_memory(np.frombuffer(buffers[0], np.uint8), tensor.numpy())
    given = [bytearray(one) for one in buffers]
    made = holdall.loads(message, buffers=given)["x"]
    made[0] = 7
    assert np.frombuffer(given[0], np.float32)[0] == 7
    path = tmp_path / "x.hold"
    holdall.dump(tensor, path)
    for mmap in (False, True, "copy"):
        made = holdall.load(path, mmap=mmap)
        made[0] = 5
        assert torch.equal(made[1:], tensor[1:])
        assert made[0] == 5
        del made
        assert holdall.load(path)[0] == 0


def test_what_is_refused() -> None:
    hooked = torch.ones(1, requires_grad=True)
    hooked.register_hook(print)
    shrunk = torch.ones(3)
    shrunk.untyped_storage().resize_(0)

    class Other(torch.Tensor):
        pass

    for value, why in (
        (torch.empty(2, device="meta"), "a tensor on `meta`"),
        (torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8), "a quantized tensor"),
        (hooked, "a hooked tensor"),
        (shrunk, "smaller than it says"),
        (torch.ones(2).as_subclass(Other), "Other"),
        (torch.nn.Linear(1, 1), "Linear"),
    ):
        with pytest.raises(holdall.HoldallError, match=why):
            again(value)


@pytest.mark.parametrize("kind", ["plain", "sparse"])
def test_states_that_lie(kind: str) -> None:
    from holdall.bundles import torch as bundle

    if kind == "plain":
        storage = torch.ones(6).untyped_storage()
        good: Any = ("float32", storage, storage, 0, (2, 3), (3, 1), False, None)
        assert bundle._tensor_of(good).tolist() == [[1, 1, 1], [1, 1, 1]]
        changes: Any = (
            (0, ("float64", "qint8", "nothing", None, ["float32"])),
            (1, (None, np.ones(6), torch.ones(6), b"")),
            (3, (1, -1, 1 << 62, True, 1.0, None)),
            (4, ((2, 4), (7,), (-1, 3), (1 << 62, 1 << 62), (1 << 40, 3), [2, 3], (2.0, 3), (1,) * 70)),
            (5, ((4, 1), (-3, 1), (1 << 62, 1), (1 << 61, 1 << 61), (3,), None)),
            (6, (1, None)),
            (7, ((True, 1, None), (True,), 5, (False, False, []))),
        )
    else:
        tensor = torch.sparse_coo_tensor(
            torch.tensor([[0, 1], [2, 0]]), torch.ones(2), (2, 3), check_invariants=True
        )
        good = bundle._tensor(tensor)
        assert torch.equal(bundle._tensor_of(good).to_dense(), tensor.to_dense())
        places = torch.tensor
        changes = (
            (0, ("strided", "sparse_csr", "nothing", None)),
            (
                1,
                (
                    [places([[0, 2], [2, 0]]), torch.ones(2), False],
                    [places([[0, -1], [2, 0]]), torch.ones(2), False],
                ),
            ),
            (
                1,
                (
                    [places([[0, 1], [2, 0]]), torch.ones(3), False],
                    [places([[0.0, 1], [2, 0]]), torch.ones(2), False],
                ),
            ),
            (1, ([None, torch.ones(2), False], [places([[0, 1], [2, 0]]), torch.ones(2), 1], [], None)),
            (2, ((2, 2), (2,), (-1, 3), (1 << 62, 1 << 62), [2, 3], None)),
            (3, (None, 1)),
        )
    for at, values in changes:
        for value in values:
            with pytest.raises((TypeError, ValueError, KeyError, RuntimeError, AttributeError)):
                bundle._tensor_of((*good[:at], value, *good[at + 1 :]))
    if kind == "plain":
        # Wide without a byte: views of one item.
        assert bundle._tensor_of((*good[:4], (1 << 20, 1 << 20), (0, 0), False, None)).shape == (
            1 << 20,
            1 << 20,
        )


def test_ordered_dicts_without_attributes_need_no_bundle() -> None:
    plain = OrderedDict(a=1, b=[2])
    assert b"torch" not in holdall.dumps(plain)
    assert b"torch" not in holdall.msgpack.dumps(plain)
    noted: Any = OrderedDict(a=1)
    noted.note = "x"
    made = again([noted, noted, plain])
    assert made[0] is made[1]
    assert (made[0], made[0].note, type(made[2])) == (noted, "x", OrderedDict)
