"""Pillow: images as their pixels, with palette and notes."""

from __future__ import annotations

from pickle import PickleBuffer
from typing import TYPE_CHECKING, Any

from PIL import Image, ImageFile, PngImagePlugin, TiffImagePlugin

from .._bundles import Known
from .._core import EncodeError
from ._checks import exact, octets, parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Bytes of a pixel; rows of "1" end with a byte.
_WIDTHS = {
    "L": 1, "P": 1, "LA": 2, "PA": 2, "La": 2, "I;16": 2, "I;16L": 2, "I;16B": 2, "I;16N": 2, "RGB": 3, "YCbCr": 3, "LAB": 3, "HSV": 3,
    "RGBA": 4, "RGBX": 4, "RGBa": 4, "CMYK": 4, "I": 4, "F": 4,
}  # fmt: skip
_PALETTES = {"RGB": 3, "RGBA": 4}
# Before 10.1 it was an attribute without a property.
_MODE = "_mode" if hasattr(Image.new("L", (1, 1)), "_mode") else "mode"


def known() -> Iterator[Known]:
    Image.init()  # the classes of all formats
    yield Known(Image.Image, "PIL.Image.Image", _image, _image_of(Image.Image))
    found = {}
    todo: list[Any] = [ImageFile.ImageFile]
    while todo:
        cls = todo.pop()
        todo += cls.__subclasses__()
        if cls.__module__.startswith("PIL."):
            found[f"{cls.__module__}.{cls.__qualname__}"] = cls
    for name, cls in found.items():
        yield Known(cls, name, _image, _image_of(cls))
    yield Known(
        PngImagePlugin.iTXt,
        "PIL.PngImagePlugin.iTXt",
        lambda text: (str(text), text.lang, text.tkey),
        _text_of,
    )
    yield Known(
        TiffImagePlugin.IFDRational,
        "PIL.TiffImagePlugin.IFDRational",
        _ratio,
        lambda pair: TiffImagePlugin.IFDRational(*pair),
    )


def _image(image: Any) -> Any:
    image.load()
    palette = None
    if image.mode in ("P", "PA"):
        kind = image.im.getpalettemode()
        palette = kind, bytes(image.im.getpalette(kind, kind))
    name = getattr(image, "filename", None)
    return (
        image.mode,
        image.size,
        PickleBuffer(_pixels(image)),
        palette,
        image.info,
        name if type(name) is str else None,
    )


def _pixels(image: Any) -> Any:
    """The image's `tobytes`, in one piece: that joins many."""
    mode, size = image.mode, image.size
    if mode not in _WIDTHS and mode != "1":
        raise EncodeError(f"can't store an image of the mode {mode!r}")
    count = _size(mode, size)
    if not count:
        return b""
    encoder = Image._getencoder(mode, "raw", mode)
    encoder.setimage(image.im, (0, 0, *size))
    _, state, data = encoder.encode(count)
    # 1: there is nothing left.
    return data if state == 1 and len(data) == count else image.tobytes()


def _size(mode: str, size: Any) -> int:
    wide, high = parts(size, 2)
    if not 0 <= exact(wide, int) < 1 << 31 or not 0 <= exact(high, int) < 1 << 31:
        raise ValueError("a size out of range")
    return (wide + 7) // 8 * high if mode == "1" else wide * high * _WIDTHS[mode]


def _image_of(cls: Any) -> Callable[[Any], Any]:
    def image_of(stored: Any) -> Any:
        mode, size, data, palette, info, name = parts(stored, 6)
        # Before there is memory for that many pixels.
        data = octets(data)
        if len(data) != _size(exact(mode, str), size) or (not data and max(size) > 1 << 16):
            raise ValueError("another number of pixels")
        made = cls.__new__(cls)
        Image.Image.__init__(made)
        if cls is not Image.Image:
            made.tile, made.filename = [], "" if name is None else exact(name, str)
        vars(made)[_MODE] = mode
        made._size, made.info = size, exact(info, dict)
        made.im = Image.core.new(mode, size)
        if palette is not None:
            kind, colors = parts(palette, 2)
            if (
                mode not in ("P", "PA")
                or len(exact(colors, bytes)) % _PALETTES[kind]
                or len(colors) > 256 * _PALETTES[kind]
            ):
                raise ValueError("a palette of another size")
            made.putpalette(colors, kind)
        if data:
            made.frombytes(data)
        return made

    return image_of


def _text_of(stored: Any) -> Any:
    text, lang, key = parts(stored, 3)
    return PngImagePlugin.iTXt(exact(text, str), lang, key)


def _ratio(value: Any) -> Any:
    return value.numerator, value.denominator
