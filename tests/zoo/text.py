"""Text, markup and tools."""

from __future__ import annotations

from typing import Any, Iterator

from tests.zoo.specimens import zoo


@zoo("lxml", "lxml.etree", "lxml.html", "lxml.objectify")
def lxml_objects() -> Iterator[Any]:
    from lxml import etree, objectify

    yield "objectify", objectify.fromstring("<a><b>5</b></a>"), lambda o: (o.b.pyval, objectify.dump(o))
    yield "Element", etree.fromstring("<a/>"), lambda e: e.tag
    yield "QName", etree.QName("u", "t"), lambda q: q.text
    yield "XMLSyntaxError", failed(lambda: etree.fromstring("<a")), lambda e: type(e).__name__


def failed(call: Any) -> BaseException:
    try:
        call()
    except Exception as error:
        return error.with_traceback(None)
    raise AssertionError("nothing was raised")


@zoo("beautifulsoup4", "bs4", "bs4.element")
def bs4_objects() -> Iterator[Any]:
    from bs4 import BeautifulSoup

    soup = BeautifulSoup("<p class='a b'>x<b>y</b><!-- c --></p>", "html.parser")
    yield "soup", soup, lambda s: (str(s), s.b.parent.name, s.p["class"])
    yield "Tag", soup.p, lambda t: (str(t), t.b.string)
    yield "text", soup.b.string, lambda t: str(t)


@zoo("html5lib")
def html5lib_objects() -> Iterator[Any]:
    import html5lib

    yield "document", html5lib.parse("<p>x</p>"), lambda e: [x.tag for x in e.iter()]


@zoo("jinja2", "jinja2", "jinja2.nodes", "jinja2.exceptions", "jinja2.utils")
def jinja2_objects() -> Iterator[Any]:
    import jinja2

    environment = jinja2.Environment()
    yield "nodes", environment.parse("{% for x in y %}{{ x }}{% endfor %}"), lambda t: len(t.body)
    yield "LRUCache", filled(jinja2.utils.LRUCache(3)), lambda c: (c["a"], c.keys())
    yield (
        "errors",
        [jinja2.TemplateSyntaxError("m", 3, "n", "f"), jinja2.UndefinedError("u")],
        lambda e: (e[0].lineno, e[0].name, str(e[1])),
    )
    yield "missing", [jinja2.utils.missing], lambda m: m[0] is jinja2.utils.missing
    yield "BytecodeCache", jinja2.FileSystemLoader("."), lambda x: x.searchpath


def filled(cache: Any) -> Any:
    cache["a"] = 1
    return cache


@zoo("markupsafe")
def markupsafe_objects() -> Iterator[Any]:
    from markupsafe import Markup

    yield "Markup", Markup("<b>%s</b>"), lambda m: m % "<"


@zoo("pygments", "pygments", "pygments.token", "pygments.lexers", "pygments.styles", "pygments.formatters")
def pygments_objects() -> Iterator[Any]:
    from pygments import lexers
    from pygments.token import Token

    yield "tokens", [Token.Name.Function, Token], lambda t: (t[0] is Token.Name.Function, t[0] in Token.Name)
    yield "tokens as keys", {Token.Name.Function: 1, Token: 2}, lambda d: d[Token.Name.Function]
    yield "lexed", list(lexers.PythonLexer().get_tokens("a = 1")), lambda t: t[0][0] is Token.Name
    yield "lexer", lexers.PythonLexer(), lambda x: [v for _, v in x.get_tokens("a")]


@zoo(
    "rich",
    "rich.text",
    "rich.style",
    "rich.table",
    "rich.console",
    "rich.color",
    "rich.segment",
    "rich.tree",
    "rich.panel",
)
def rich_objects() -> Iterator[Any]:
    from rich.segment import Segment
    from rich.style import Style
    from rich.table import Table
    from rich.text import Text

    yield "Style", Style.parse("bold red on blue link http://x"), lambda s: (str(s), s.bold)
    yield "Text", Text.from_markup("[b]x[/b] y"), lambda t: (t.plain, t.spans)
    table = Table("a", "b", title="t")
    table.add_row("1", "2")
    yield "Table", table, lambda t: (t.row_count, [c.header for c in t.columns])
    yield "Segment", Segment("x", Style(bold=True)), lambda s: s.cell_length


@zoo("click")
def click_objects() -> Iterator[Any]:
    import click

    yield (
        "types",
        [click.INT, click.Choice(["a"]), click.IntRange(1, 3), click.Path(exists=True), click.DateTime()],
        lambda t: repr(t[1]),
    )
    yield (
        "errors",
        [click.BadParameter("m"), click.UsageError("u"), click.Abort()],
        lambda e: e[0].format_message(),
    )
    yield "option", click.Option(["--a"], default=3), lambda o: (o.name, o.default)


@zoo("markdown")
def markdown_objects() -> Iterator[Any]:
    import markdown

    yield "Markdown", markdown.Markdown(), lambda m: m.convert("*a*")


@zoo("mistune")
def mistune_objects() -> Iterator[Any]:
    import mistune

    yield "renderer", mistune.HTMLRenderer(), lambda r: type(r).__name__


@zoo("docutils", "docutils", "docutils.nodes", "docutils.core")
def docutils_objects() -> Iterator[Any]:
    import docutils.core

    document = docutils.core.publish_doctree("T\n=\n\n*a* `b`_\n\n.. _b: http://x\n")
    document.reporter = None
    document.transformer = None
    yield "document", document, lambda d: (d.pformat(), d.children[0].parent is d)


@zoo("pyyaml", "yaml")
def yaml_objects() -> Iterator[Any]:
    import yaml

    yield "nodes", yaml.compose("a: [1, 2]"), lambda n: n.value[0][0].value
    yield "error", failed(lambda: yaml.safe_load("a: [")), lambda e: str(e.problem)
    yield "events", list(yaml.parse("a: 1")), lambda e: len(e)


@zoo("ruamel.yaml", "ruamel.yaml", "ruamel.yaml.comments", "ruamel.yaml.scalarstring")
def ruamel_objects() -> Iterator[Any]:
    from ruamel.yaml import YAML

    data = YAML().load("# c\na: 1  # d\nb: [x, 'y', 0x1F, 1.50]\nc: &k {z: 2}\nd: *k\n")
    yield "document", data, lambda d: (dump(d), d["c"] is d["d"])
    yield "list", data["b"], lambda s: [type(x).__name__ for x in s]


def dump(data: Any) -> str:
    import io

    from ruamel.yaml import YAML

    stream = io.StringIO()
    YAML().dump(data, stream)
    return stream.getvalue()


@zoo("tomlkit", "tomlkit", "tomlkit.items")
def tomlkit_objects() -> Iterator[Any]:
    import tomlkit

    document = tomlkit.parse(
        '# c\na = 1 # d\n[t]\nb = "x"\nd = 2024-01-01T00:00:00Z\ne = [1, 2]\n[[u]]\nf = 1.5\n'
    )
    yield "document", document, lambda d: (tomlkit.dumps(d), d["t"]["b"])
    for key in ("b", "d", "e"):
        yield f"item {key}", document["t"][key], lambda i: (i.as_string(), type(i).__name__)


@zoo(
    "packaging",
    "packaging.version",
    "packaging.requirements",
    "packaging.specifiers",
    "packaging.markers",
    "packaging.tags",
)
def packaging_objects() -> Iterator[Any]:
    from packaging.markers import Marker
    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet
    from packaging.tags import Tag
    from packaging.version import Version

    yield (
        "Version",
        [Version("1.2.post3+l"), Version("1!2.0a1")],
        lambda v: (v[0] < v[1], [str(x) for x in v]),
    )
    yield "Requirement", Requirement("a[b]>=1; python_version > '3'"), lambda r: (str(r), r.marker.evaluate())
    yield (
        "specifiers",
        [SpecifierSet(">=1,<2"), Marker("os_name == 'x'"), Tag("py3", "none", "any")],
        lambda s: (Version("1.5") in s[0], str(s[1]), str(s[2])),
    )


@zoo("regex")
def regex_objects() -> Iterator[Any]:
    import regex

    yield (
        "Pattern",
        regex.compile(r"(?P<a>\p{L}+){e<=1}", regex.I),
        lambda p: (p.match("ab").group("a"), p.flags, p.groupindex),
    )
    yield "named lists", regex.compile(r"\L<words>", words=["a", "b"]), lambda p: p.findall("a b c")
    yield "flags", regex.I | regex.V1, lambda f: f


@zoo("parso")
def parso_objects() -> Iterator[Any]:
    import parso

    tree = parso.parse("def f(a):\n    return a\n")
    yield "tree", tree, lambda t: (t.get_code(), t.children[0].parent is t)


@zoo("lark")
def lark_objects() -> Iterator[Any]:
    import lark

    yield (
        "Tree",
        lark.Tree("a", [lark.Token("T", "x", 1, 2, 3)]),
        lambda t: (t.children[0].type, t.children[0].line, t.pretty()),
    )
    yield "parser", lark.Lark('start: "a"+', parser="lalr"), lambda p: type(p).__name__


@zoo("pyparsing")
def pyparsing_objects() -> Iterator[Any]:
    import pyparsing as pp

    result = (pp.Word(pp.alphas)("w") + pp.Word(pp.nums)("n")).parse_string("ab 12")
    yield "ParseResults", result, lambda r: (r.as_list(), r["w"], r.n)
    yield "ParseException", pp.ParseException("text", 2, "m"), lambda e: (e.loc, e.msg)


@zoo("pycparser", "pycparser", "pycparser.c_ast")
def pycparser_objects() -> Iterator[Any]:
    import pycparser

    yield (
        "tree",
        pycparser.CParser().parse("int f(int a) { return a + 1; }"),
        lambda t: [type(x).__name__ for _, x in t.children()],
    )


@zoo("libcst")
def libcst_objects() -> Iterator[Any]:
    import libcst

    yield "module", libcst.parse_module("def f(a): # c\n    return a\n"), lambda m: m.code
    yield (
        "sentinels",
        [libcst.MaybeSentinel.DEFAULT, libcst.RemovalSentinel.REMOVE],
        lambda s: s[0] is libcst.MaybeSentinel.DEFAULT,
    )


@zoo("openpyxl", "openpyxl", "openpyxl.styles", "openpyxl.utils")
def openpyxl_objects() -> Iterator[Any]:
    import openpyxl
    from openpyxl.styles import Border, Font

    book = openpyxl.Workbook()
    book.active["A1"] = 5
    yield "Workbook", book, lambda b: (b.active["A1"].value, b.active.parent is b)
    yield "styles", [Font(bold=True), Border()], lambda s: s[0].b


@zoo("pillow", "PIL.Image", "PIL.ImageFont", "PIL.ImageFilter", "PIL.ImagePalette")
def pillow_objects() -> Iterator[Any]:
    from PIL import Image, ImageFilter

    for mode in ("L", "RGB", "RGBA", "P", "1", "F", "I;16"):
        image = Image.new(mode, (3, 2))
        yield (
            f"Image {mode}",
            image,
            lambda i: (i.tobytes(), i.size, i.mode, i.getpalette() and i.getpalette()[:3]),
        )
    image = Image.new("RGB", (2, 2), "red")
    image.info["k"] = "v"
    yield "with info", image, lambda i: (i.info, i.getpixel((0, 0)))
    yield "filters", [ImageFilter.GaussianBlur(3), ImageFilter.BLUR], lambda f: f[0].radius


@zoo("simplejson")
def simplejson_objects() -> Iterator[Any]:
    import simplejson

    yield "error", simplejson.JSONDecodeError("m", "doc", 0), lambda e: (e.lineno, str(e))
    yield "RawJSON", simplejson.RawJSON("1"), lambda r: r.encoded_json


@zoo("orjson")
def orjson_objects() -> Iterator[Any]:
    import orjson

    yield "error", failed(lambda: orjson.loads("{")), lambda e: (str(e), e.pos)
    yield "Fragment", orjson.Fragment(b"1"), lambda f: type(f).__name__


@zoo("semver")
def semver_objects() -> Iterator[Any]:
    import semver

    yield "Version", semver.Version.parse("1.2.3-a+b"), lambda v: (str(v), v.bump_major())


@zoo("phonenumbers")
def phonenumbers_objects() -> Iterator[Any]:
    import phonenumbers

    yield (
        "PhoneNumber",
        phonenumbers.parse("+442083661177"),
        lambda p: (p.national_number, phonenumbers.is_valid_number(p)),
    )


@zoo("loguru")
def loguru_objects() -> Iterator[Any]:
    import loguru

    yield "logger", loguru.logger.bind(a=1), lambda x: type(x).__name__


@zoo("joblib", "joblib", "joblib.memory", "cloudpickle")
def joblib_objects() -> Iterator[Any]:
    import joblib

    yield "delayed", joblib.delayed(sum)([1]), lambda d: d[0](*d[1])
    yield "Parallel", joblib.Parallel(1), lambda p: p([joblib.delayed(abs)(-1)])
    yield "Memory", joblib.Memory(None), lambda m: type(m).__name__


@zoo("dill")
def dill_objects() -> Iterator[Any]:
    import dill

    yield "errors", [dill.PicklingError("x")], lambda e: str(e[0])
