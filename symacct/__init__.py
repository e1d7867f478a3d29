"""A symbolic, lazy privacy accountant in which every printed digit is proven.

Nothing is imported before it is asked for: neither a name of `__all__`, nor what fills a register.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from symacct.kernel import attached as _attached
from symacct.kernel.memory import HOMES as _HOMES
from symacct.version import __version__ as __version__

if TYPE_CHECKING:
    from symacct import baselines, laws
    from symacct.accountant.adaptive import Filter, Odometer
    from symacct.adversary.falsify import Attack, falsify
    from symacct.explore.calibration import (
        Calibration,
        RiskCalibration,
        calibrate,
        calibrate_risk,
        noise,
    )
    from symacct.explore.chi import OddChiReport, check_odd_chi, chi_divergence, ternary_bound
    from symacct.explore.comparison import compare, compare_epsilon
    from symacct.explore.plots import (
        phase_transition,
        plot,
        plot_profile,
        plot_runs,
        plot_sweep,
        takeover,
    )
    from symacct.explore.risk import Risk, plot_risk, risk
    from symacct.explore.softmax import softmax_bounds
    from symacct.explore.sweeps import Sweep, sweep
    from symacct.explore.thresholds import calibrate_thresholded
    from symacct.kernel import errors, symbols
    from symacct.kernel.accountant import Accountant
    from symacct.kernel.answer import Enclosure, Guarantee
    from symacct.kernel.claims import Adjacency, Claim, Kind, Orders, Source
    from symacct.kernel.conversion import conversions
    from symacct.kernel.errors import (
        AdjacencyError,
        AssumptionError,
        BudgetError,
        DomainError,
        ExecutorError,
        GapWarning,
        InfiniteError,
        LimitError,
        MissingPackageError,
        OrderError,
        OrderGridWarning,
        ParseError,
        PrecisionError,
        SoundnessError,
        StorageError,
        SymacctError,
    )
    from symacct.kernel.exact import binary
    from symacct.kernel.limits import limits
    from symacct.kernel.node import Node
    from symacct.kernel.theorem_registry import Theorem, theorems
    from symacct.mechanisms import (
        TCDP,
        ZCDP,
        ApproximateDP,
        BallsInBins,
        Curve,
        DiscreteGaussian,
        DiscreteGaussianSum,
        DiscreteLaplace,
        DistributionPair,
        ExponentialFamily,
        ExponentialMechanism,
        FiniteMechanism,
        Gaussian,
        GaussianNoisyMax,
        GaussianSparseVector,
        Laplace,
        MatrixMechanism,
        NoisyDescent,
        NoisyMax,
        NoisyPass,
        PermuteAndFlip,
        PureDP,
        RandomizedResponse,
        ScalarGaussian,
        Skellam,
        SparseVector,
        TreeAggregation,
        VectorLaplace,
    )
    from symacct.operations import (
        Compose,
        Convexify,
        Either,
        Failing,
        GroupPrivacy,
        PoissonSubsample,
        PostProcess,
        RandomAllocation,
        RepeatAndSelect,
        Scale,
        Shuffled,
        SubsampleWithoutReplacement,
        band_mf,
        dp_sgd,
        sample_with_replacement,
        sampled_descent,
        shuffled,
        thresholded,
        truncated_poisson,
    )
    from symacct.papers.report import PrivacyReport
    from symacct.text import from_json, parse
    from symacct.theory import amplification, catalogue
    from symacct.theory.registration import theorem

__all__ = [
    "TCDP",
    "ZCDP",
    "Accountant",
    "Adjacency",
    "AdjacencyError",
    "ApproximateDP",
    "AssumptionError",
    "Attack",
    "BallsInBins",
    "BudgetError",
    "Calibration",
    "Claim",
    "Compose",
    "Convexify",
    "Curve",
    "DiscreteGaussian",
    "DiscreteGaussianSum",
    "DiscreteLaplace",
    "DistributionPair",
    "DomainError",
    "Either",
    "Enclosure",
    "ExecutorError",
    "ExponentialFamily",
    "ExponentialMechanism",
    "Failing",
    "Filter",
    "FiniteMechanism",
    "GapWarning",
    "Gaussian",
    "GaussianNoisyMax",
    "GaussianSparseVector",
    "GroupPrivacy",
    "Guarantee",
    "InfiniteError",
    "Kind",
    "Laplace",
    "LimitError",
    "MatrixMechanism",
    "MissingPackageError",
    "Node",
    "NoisyDescent",
    "NoisyMax",
    "NoisyPass",
    "OddChiReport",
    "Odometer",
    "OrderError",
    "OrderGridWarning",
    "Orders",
    "ParseError",
    "PermuteAndFlip",
    "PoissonSubsample",
    "PostProcess",
    "PrecisionError",
    "PrivacyReport",
    "PureDP",
    "RandomAllocation",
    "RandomizedResponse",
    "RepeatAndSelect",
    "Risk",
    "RiskCalibration",
    "ScalarGaussian",
    "Scale",
    "Shuffled",
    "Skellam",
    "SoundnessError",
    "Source",
    "SparseVector",
    "StorageError",
    "SubsampleWithoutReplacement",
    "Sweep",
    "SymacctError",
    "Theorem",
    "TreeAggregation",
    "VectorLaplace",
    "amplification",
    "band_mf",
    "baselines",
    "binary",
    "calibrate",
    "calibrate_risk",
    "calibrate_thresholded",
    "catalogue",
    "check_odd_chi",
    "chi_divergence",
    "compare",
    "compare_epsilon",
    "conversions",
    "dp_sgd",
    "errors",
    "falsify",
    "from_json",
    "laws",
    "limits",
    "noise",
    "parse",
    "phase_transition",
    "plot",
    "plot_profile",
    "plot_risk",
    "plot_runs",
    "plot_sweep",
    "risk",
    "sample_with_replacement",
    "sampled_descent",
    "shuffled",
    "softmax_bounds",
    "sweep",
    "symbols",
    "takeover",
    "ternary_bound",
    "theorem",
    "theorems",
    "thresholded",
    "truncated_poisson",
]

#: The modules that fill each register.
_REGISTERS = {
    "nodes": ("mechanisms", "operations"),
    "theorems": ("theory.amplification",),
    "conversion": ("theory.conversion",),
    "accountant": ("kernel.accountant",),
    "conversion exact": ("profile.answer",),
}
for _register, _modules in _REGISTERS.items():
    for _module in _modules:
        _HOMES[_register].add(f"symacct.{_module}")

#: The questions of each class that are answered above the kernel, by the module that does.
_QUESTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "Node": {
        "accountant.currencies.concentrated": ("tcdp", "zcdp"),
        "accountant.currencies.gdp": ("gdp",),
        "accountant.currencies.tradeoff": ("tradeoff",),
        "baselines.ways": ("_ways",),
        "codegen.generate": ("code",),
        "explore.plots": ("plot", "plot_profile", "plot_runs"),
        "export.cards": ("_repr_html_",),
        "export.citation": ("cite",),
        "export.expansions": ("expansion", "optimum"),
        "export.formula": ("formula",),
        "export.graph": ("graph",),
        "export.latex.display": ("_repr_latex_", "latex"),
        "papers.document": ("paper",),
        "papers.report": ("explain", "report"),
        "papers.statement": ("statement",),
        "text.expressions": ("__repr__",),
        "text.json_documents": ("__reduce__", "to_json"),
    },
    "Guarantee": {
        "evidence.certificates.document": ("certificate",),
        "export.cards": ("__repr__", "_repr_html_"),
        "export.citation": ("cite",),
        "export.latex.number_formula": ("latex",),
        "papers.statement": ("statement",),
    },
    "Enclosure": {"export.cards": ("_repr_html_",)},
    "Theorem": {"export.cards": ("_repr_html_",)},
    "Theorems": {"export.cards": ("_repr_html_",)},
}
_attached.ANNOUNCED.update(_QUESTIONS)

#: The names of `__all__` that are modules.
_MODULES = (
    "baselines",
    "kernel.errors",
    "kernel.symbols",
    "laws",
    "theory.amplification",
    "theory.catalogue",
)
#: The modules of those that are none, but for leaves and operations.
_ROOMS = {
    "kernel.accountant": ("Accountant",),
    "kernel.answer": ("Enclosure", "Guarantee"),
    "kernel.claims": ("Adjacency", "Claim", "Kind", "Orders", "Source"),
    "kernel.conversion": ("conversions",),
    "kernel.errors": (
        "AdjacencyError",
        "AssumptionError",
        "BudgetError",
        "DomainError",
        "ExecutorError",
        "GapWarning",
        "InfiniteError",
        "LimitError",
        "MissingPackageError",
        "OrderError",
        "OrderGridWarning",
        "ParseError",
        "PrecisionError",
        "SoundnessError",
        "StorageError",
        "SymacctError",
    ),
    "kernel.exact": ("binary",),
    "kernel.limits": ("limits",),
    "kernel.node": ("Node",),
    "kernel.theorem_registry": ("Theorem", "theorems"),
    "accountant.adaptive": ("Filter", "Odometer"),
    "adversary.falsify": ("Attack", "falsify"),
    "explore.calibration": (
        "Calibration",
        "RiskCalibration",
        "calibrate",
        "calibrate_risk",
        "noise",
    ),
    "explore.chi": ("OddChiReport", "check_odd_chi", "chi_divergence", "ternary_bound"),
    "explore.comparison": ("compare", "compare_epsilon"),
    "explore.plots": (
        "phase_transition",
        "plot",
        "plot_profile",
        "plot_runs",
        "plot_sweep",
        "takeover",
    ),
    "explore.risk": ("Risk", "plot_risk", "risk"),
    "explore.softmax": ("softmax_bounds",),
    "explore.sweeps": ("Sweep", "sweep"),
    "explore.thresholds": ("calibrate_thresholded",),
    "papers.report": ("PrivacyReport",),
    "theory.registration": ("theorem",),
}
#: Where all other names are: leaves, operations, their text.
_OPEN = ("mechanisms", "operations", "text")
_LATER = {name: room for room, names in _ROOMS.items() for name in names}  # name ↦ its room
_NAMED = {module.rpartition(".")[2]: module for module in _MODULES}  # name ↦ its module


def __getattr__(name: str) -> Any:
    """Open the module that has a public name, the registers before it, and keep what it has.

    AttributeError for a name that is not in `__all__`, with the closest one.
    """
    if name not in __all__:
        from symacct.kernel.errors import nearest

        meant = None if name.startswith("_") else nearest(name, __all__)
        remedy = f"; did you mean {meant}?" if meant else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{remedy}")
    for register in ("nodes", "theorems", "conversion", "accountant"):  # a question walks these
        _HOMES[register].open()
    if name in _NAMED:
        found: Any = import_module(f"symacct.{_NAMED[name]}")
    else:
        homes = [_LATER[name]] if name in _LATER else _OPEN
        rooms = [import_module(f"symacct.{home}") for home in homes]
        found = next(vars(room)[name] for room in rooms if name in vars(room))
    globals()[name] = found
    return found


#: Met as answers, or as what a function makes, and not called by their names.
_ANSWERS = {
    "Attack",
    "BallsInBins",
    "Calibration",
    "OddChiReport",
    "PrivacyReport",
    "Risk",
    "RiskCalibration",
    "Shuffled",
    "Sweep",
}


def __dir__() -> list[str]:
    """What one types: the errors are in `errors`, and sorts of answers beside what gives them."""
    errors = {name for name in __all__ if name.endswith(("Error", "Warning"))} - {"SymacctError"}
    return sorted({*__all__} - errors - _ANSWERS)
