"""Science: numbers, models, graphs, units, languages."""

from __future__ import annotations

from typing import Any, Iterator

from tests.zoo.specimens import zoo


@zoo(
    "scipy",
    "scipy.sparse",
    "scipy.stats",
    "scipy.interpolate",
    "scipy.spatial",
    "scipy.optimize",
    "scipy.signal",
)
def scipy_objects() -> Iterator[Any]:
    import numpy as np
    from scipy import interpolate, optimize, signal, sparse, spatial, stats
    from scipy.spatial.transform import Rotation

    for form in ("csr", "csc", "coo", "bsr", "dia", "dok", "lil"):
        yield (
            f"sparse {form}",
            sparse.random(6, 5, 0.4, format=form, random_state=1),
            lambda m: (m.sum(), m.toarray().tolist(), m.format),
        )
    yield "csr_array", sparse.csr_array(np.eye(3)), lambda m: (m @ np.ones(3)).tolist()
    yield "frozen distribution", stats.norm(1, 2), lambda d: (d.cdf(0.5), d.kwds, d.args)
    yield "gaussian_kde", stats.gaussian_kde([1.0, 2, 4]), lambda k: k(2.5).tolist()
    yield "CubicSpline", interpolate.CubicSpline([0, 1, 2], [0, 1, 4]), lambda s: float(s(1.5))
    yield "interp1d", interpolate.interp1d([0, 1, 2], [0, 1, 4]), lambda s: float(s(0.5))
    yield (
        "RegularGridInterpolator",
        interpolate.RegularGridInterpolator(([0, 1], [0, 1]), np.eye(2)),
        lambda s: s([[0.5, 0.5]]).tolist(),
    )
    yield "KDTree", spatial.KDTree([[0, 0], [1, 1], [2, 2]]), lambda t: t.query([0.9, 1])[1]
    yield "cKDTree", spatial.cKDTree([[0, 0], [1, 1], [2, 2]]), lambda t: t.query([0.9, 1])[1]
    yield (
        "Rotation",
        Rotation.from_euler("z", 90, degrees=True),
        lambda r: r.apply([1, 0, 0]).round(9).tolist(),
    )
    yield "OptimizeResult", optimize.OptimizeResult(x=[1], success=True), lambda r: r.success
    yield "Bounds", optimize.Bounds([0], [1]), lambda b: b.keep_feasible.tolist()
    yield "lti", signal.lti([1], [1, 1]), lambda s: s.poles.tolist()
    yield "result", stats.ttest_ind([1, 2, 3], [2, 3, 5]), lambda r: (r.pvalue, r.df)


@zoo(
    "scikit-learn",
    "sklearn.linear_model",
    "sklearn.ensemble",
    "sklearn.pipeline",
    "sklearn.preprocessing",
    "sklearn.neighbors",
    "sklearn.cluster",
    "sklearn.tree",
    "sklearn.svm",
    "sklearn.gaussian_process",
    "sklearn.neural_network",
)
def sklearn_objects() -> Iterator[Any]:
    import numpy as np
    from sklearn import (
        cluster,
        compose,
        ensemble,
        gaussian_process,
        linear_model,
        naive_bayes,
        neighbors,
        neural_network,
        pipeline,
        preprocessing,
        svm,
        tree,
    )

    x = np.random.RandomState(0).rand(40, 3)
    y = (x[:, 0] > 0.5).astype(int)
    models = [
        linear_model.LogisticRegression(),
        linear_model.Ridge(),
        ensemble.RandomForestClassifier(5, random_state=0),
        ensemble.GradientBoostingClassifier(n_estimators=3),
        ensemble.HistGradientBoostingClassifier(max_iter=3),
        ensemble.IsolationForest(n_estimators=3, random_state=0),
        tree.DecisionTreeClassifier(max_depth=3),
        svm.SVC(probability=False),
        neighbors.KNeighborsClassifier(3),
        neighbors.KNeighborsClassifier(algorithm="kd_tree"),
        neighbors.KNeighborsClassifier(algorithm="ball_tree"),
        naive_bayes.GaussianNB(),
        cluster.KMeans(2, n_init=1, random_state=0),
        gaussian_process.GaussianProcessRegressor(random_state=0),
        neural_network.MLPClassifier((4,), max_iter=5, random_state=0),
        pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.SGDClassifier(random_state=0)),
    ]
    for model in models:
        yield type(model).__name__, model.fit(x, y), lambda m: m.predict(x[:8]).round(9).tolist()
    yield "not fitted", linear_model.Lasso(alpha=0.3), lambda m: m.get_params()
    encoder = preprocessing.OneHotEncoder().fit([["a"], ["b"]])
    yield "OneHotEncoder", encoder, lambda e: e.transform([["b"]]).toarray().tolist()
    columns = compose.ColumnTransformer(
        [("s", preprocessing.MinMaxScaler(), [0])], remainder="passthrough"
    ).fit(x)
    yield "ColumnTransformer", columns, lambda c: c.transform(x[:2]).tolist()
    yield "kernel", gaussian_process.kernels.RBF() + gaussian_process.kernels.WhiteKernel(), repr


@zoo("statsmodels", "statsmodels.api", "statsmodels.formula.api")
def statsmodels_objects() -> Iterator[Any]:
    import numpy as np
    import pandas as pd
    import statsmodels.api as sm
    import statsmodels.formula.api as smf

    frame = pd.DataFrame({"x": np.arange(8.0), "y": [1, 3, 2, 5, 4, 7, 6, 9.0]})
    yield (
        "OLS",
        sm.OLS(frame.y.to_numpy(), sm.add_constant(frame.x.to_numpy())).fit(),
        lambda r: r.params.tolist(),
    )
    yield (
        "by a formula",
        smf.ols("y ~ x", frame).fit(),
        lambda r: (r.params.tolist(), r.predict(frame).tolist()),
    )
    yield "GLM", sm.GLM(frame.y, sm.add_constant(frame.x)).fit(), lambda r: r.params.tolist()


@zoo("lightgbm")
def lightgbm_objects() -> Iterator[Any]:
    import lightgbm
    import numpy as np

    x = np.random.RandomState(0).rand(60, 3)
    model = lightgbm.LGBMClassifier(n_estimators=3, min_child_samples=2, verbose=-1).fit(x, x[:, 0] > 0.5)
    yield "LGBMClassifier", model, lambda m: m.predict(x[:5]).tolist()
    yield "Booster", model.booster_, lambda m: m.predict(x[:5]).tolist()


@zoo("networkx")
def networkx_objects() -> Iterator[Any]:
    import networkx as nx

    for graph in (
        nx.karate_club_graph(),
        nx.DiGraph([(1, 2), (2, 1)]),
        nx.MultiGraph([(1, 2), (1, 2)]),
        nx.MultiDiGraph([(1, 2, {"w": 3})]),
    ):
        yield type(graph).__name__, graph, lambda g: (sorted(g.degree), list(g.edges(data=True))[:3])
    yield "view", nx.karate_club_graph().subgraph([0, 1, 2]), lambda g: sorted(g.edges)
    yield "degree view", nx.path_graph(3).degree, dict


@zoo("igraph")
def igraph_objects() -> Iterator[Any]:
    import igraph

    graph = igraph.Graph.Ring(5)
    graph.vs["name"] = list("abcde")
    yield "Graph", graph, lambda g: (g.get_edgelist(), g.vs["name"])


@zoo("sympy")
def sympy_objects() -> Iterator[Any]:
    import sympy

    x, y = sympy.symbols("x y", positive=True)
    yield "Symbol", x, lambda s: (s.is_positive, s == sympy.Symbol("x", positive=True))
    yield "Dummy", sympy.Dummy("d"), lambda s: s.dummy_index
    yield "expression", sympy.sin(x) ** 2 + y / 3 - sympy.pi, lambda e: (sympy.srepr(e), str(e.diff(x)))
    yield (
        "numbers",
        [
            sympy.Integer(5),
            sympy.Rational(1, 3),
            sympy.Float("1.5", 30),
            sympy.oo,
            sympy.nan,
            sympy.I,
            sympy.S.One,
        ],
        lambda n: (n[6] is sympy.S.One, n[3] is sympy.oo),
    )
    yield "Matrix", sympy.Matrix([[1, x], [y, 2]]), lambda m: str(m.det())
    yield "Poly", sympy.Poly(x**2 + 1, x), lambda p: p.degree()
    yield "Function", sympy.Function("f")(x), str
    yield (
        "sets",
        [sympy.Interval(0, 1), sympy.FiniteSet(1, 2), sympy.S.Reals],
        lambda s: s[2] is sympy.S.Reals,
    )
    yield "logic", [sympy.And(x > 1, y < 2), sympy.true], lambda b: b[1] is sympy.true


@zoo("mpmath")
def mpmath_objects() -> Iterator[Any]:
    import mpmath

    yield "mpf", mpmath.mpf("1.25"), lambda n: n + 1
    yield "mpc", mpmath.mpc(1, 2), lambda n: abs(n)
    yield "matrix", mpmath.matrix([[1, 2], [3, 4]]), lambda m: mpmath.det(m)
    yield "iv", mpmath.iv.mpf([1, 2]), str


@zoo("gmpy2")
def gmpy2_objects() -> Iterator[Any]:
    import gmpy2

    yield (
        "numbers",
        [gmpy2.mpz(10**30), gmpy2.mpq(1, 3), gmpy2.mpfr("1.5"), gmpy2.mpc(1, 2), gmpy2.xmpz(5)],
        lambda n: [str(x) for x in n],
    )


@zoo("pint")
def pint_objects() -> Iterator[Any]:
    import pint

    registry = pint.UnitRegistry()
    pint.set_application_registry(registry)
    yield "Quantity", 3 * registry.meter / registry.second, lambda q: str(q.to("km/h"))
    yield "Unit", registry.newton, str
    yield "Measurement", registry.Quantity(1.5, "m").plus_minus(0.1), str
    yield "error", pint.UndefinedUnitError("x"), str


@zoo("uncertainties")
def uncertainties_objects() -> Iterator[Any]:
    from uncertainties import ufloat

    x, y = ufloat(1, 0.1), ufloat(2, 0.2)
    yield "variables", [x, y, x], lambda v: str(v[0] - v[2])
    yield "a correlated sum", [x, x + y], lambda v: str(v[1] - v[0])


@zoo("astropy", "astropy.units", "astropy.time", "astropy.table", "astropy.coordinates")
def astropy_objects() -> Iterator[Any]:
    import astropy.units as u
    from astropy.coordinates import SkyCoord
    from astropy.table import Table
    from astropy.time import Time

    yield "unit", u.km / u.s, lambda x: str(x.to(u.m / u.s))
    yield "base unit", u.m, lambda x: x is u.m
    yield "Quantity", [1, 2] * u.km, lambda q: q.to_value("m").tolist()
    yield "Time", Time("2024-01-01T00:00:00", scale="utc"), lambda t: (t.jd, t.scale)
    yield (
        "Table",
        Table({"a": [1, 2], "b": ["x", "y"]}, meta={"k": 1}),
        lambda t: (t.colnames, t["b"].tolist(), t.meta),
    )
    yield "SkyCoord", SkyCoord(10, 20, unit="deg"), lambda c: (c.ra.deg, c.dec.deg)


@zoo("rdflib")
def rdflib_objects() -> Iterator[Any]:
    import rdflib

    graph = rdflib.Graph()
    graph.add((rdflib.URIRef("http://a/"), rdflib.RDF.type, rdflib.Literal("x", lang="en")))
    yield (
        "terms",
        [
            rdflib.URIRef("http://a/b"),
            rdflib.BNode("b"),
            rdflib.Literal(5),
            rdflib.Literal("x", lang="en"),
            rdflib.Variable("v"),
        ],
        lambda t: [x.n3() for x in t],
    )
    yield "Graph", graph, lambda g: sorted(map(str, g.triples((None, None, None))))
    yield "Namespace", rdflib.Namespace("http://a/"), lambda n: n.x


@zoo("nltk", "nltk.tree", "nltk.probability", "nltk.tokenize")
def nltk_objects() -> Iterator[Any]:
    import nltk

    yield "Tree", nltk.Tree.fromstring("(S (NP a) (VP b))"), lambda t: (t.label(), t.leaves())
    yield "FreqDist", nltk.FreqDist("abca"), lambda f: f.most_common(1)
    yield "stemmer", nltk.PorterStemmer(), lambda s: s.stem("running")
    yield "grammar", nltk.CFG.fromstring("S -> 'a' S | 'b'"), str


@zoo("patsy")
def patsy_objects() -> Iterator[Any]:
    import patsy

    yield "description", patsy.ModelDesc.from_formula("y ~ x + z"), lambda d: d.describe()


@zoo(
    "matplotlib",
    "matplotlib.colors",
    "matplotlib.figure",
    "matplotlib.path",
    "matplotlib.transforms",
    "matplotlib.ticker",
)
def matplotlib_objects() -> Iterator[Any]:
    import matplotlib as mpl
    import matplotlib.path
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().plot([1, 2, 3], label="l")
    yield (
        "Figure",
        figure,
        lambda f: (len(f.axes), f.axes[0].lines[0].get_ydata().tolist(), f.axes[0].figure is f),
    )
    yield (
        "colormap",
        [mpl.colormaps["viridis"], mpl.colors.ListedColormap(["r", "g"]), mpl.colors.Normalize(0, 2)],
        lambda c: c[0](0.5),
    )
    yield "Path", mpl.path.Path([(0, 0), (1, 1)]), lambda p: p.vertices.tolist()
    yield "transform", mpl.transforms.Affine2D().rotate(1), lambda t: t.get_matrix().round(9).tolist()
    yield "rcParams", mpl.rcParams.copy(), lambda r: r["font.size"]


@zoo("seaborn")
def seaborn_objects() -> Iterator[Any]:
    import seaborn

    yield "palette", seaborn.color_palette("deep"), lambda p: p.as_hex()[:2]


@zoo("plotly", "plotly.graph_objects")
def plotly_objects() -> Iterator[Any]:
    import plotly.graph_objects as go

    yield "Figure", go.Figure([go.Scatter(y=[1, 2])], {"title": {"text": "t"}}), lambda f: f.to_json()


@zoo("altair")
def altair_objects() -> Iterator[Any]:
    import altair as alt

    yield (
        "Chart",
        alt.Chart({"values": [{"a": 1}]}).mark_point().encode(x="a:Q"),
        lambda c: c.to_dict(validate=False)["mark"],
    )


@zoo("h3")
def h3_objects() -> Iterator[Any]:
    import h3

    yield (
        "LatLngPoly",
        h3.LatLngPoly([(1, 2), (3, 4), (5, 1)]),
        lambda p: h3.shape_to_geo(p) if hasattr(h3, "shape_to_geo") else repr(p),
    )


@zoo("biopython", "Bio", "Bio.Seq", "Bio.SeqRecord", "Bio.Align", "Bio.Phylo")
def biopython_objects() -> Iterator[Any]:
    from Bio.Align import PairwiseAligner
    from Bio.Seq import Seq
    from Bio.SeqRecord import SeqRecord

    yield "Seq", Seq("ACGT"), lambda s: str(s.reverse_complement())
    yield (
        "SeqRecord",
        SeqRecord(Seq("ACG"), "id", description="d", letter_annotations={"q": [1, 2, 3]}),
        lambda r: r.format("fasta"),
    )
    yield "aligner", PairwiseAligner(match_score=2), lambda a: a.score("ACGT", "ACT")


@zoo("rapidfuzz")
def rapidfuzz_objects() -> Iterator[Any]:
    from rapidfuzz.distance import Levenshtein

    yield "Editops", Levenshtein.editops("abc", "abd"), lambda e: e.apply("abc", "abd")


@zoo(
    "tokenizers",
    "tokenizers",
    "tokenizers.models",
    "tokenizers.pre_tokenizers",
    "tokenizers.normalizers",
    "tokenizers.processors",
    "tokenizers.decoders",
)
def tokenizers_objects() -> Iterator[Any]:
    import tokenizers
    from tokenizers import models, normalizers, pre_tokenizers

    tokenizer = tokenizers.Tokenizer(models.WordLevel({"a": 0, "b": 1, "?": 2}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    yield "Tokenizer", tokenizer, lambda t: t.encode("a b c").ids
    yield (
        "parts",
        [normalizers.Lowercase(), pre_tokenizers.ByteLevel(), models.BPE()],
        lambda p: p[0].normalize_str("AB"),
    )
    yield "AddedToken", tokenizers.AddedToken("x", lstrip=True), lambda t: (t.content, t.lstrip)
    yield "Encoding", tokenizer.encode("a b"), lambda e: e.tokens
