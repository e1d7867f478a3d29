"""symacct: a symbolic, lazy privacy accountant in which every printed digit is proven."""

from symacct import amplification, baselines, catalogue, laws, symbols
from symacct.accountant import Accountant
from symacct.claims import Adjacency, Claim, Kind, Orders, Source
from symacct.conditions import OddChiReport, check_odd_chi
from symacct.conversion import conversions
from symacct.divergence import chi_divergence, ternary_bound
from symacct.enclosure import Enclosure, Guarantee
from symacct.errors import (
    AdjacencyError,
    AssumptionError,
    DomainError,
    ExecutorError,
    GapWarning,
    LimitError,
    MissingPackageError,
    OrderError,
    OrderGridWarning,
    ParseError,
    PrecisionError,
    SoundnessError,
    StorageError,
    StorageWarning,
    SymacctError,
)
from symacct.explore.calibration import Calibration, calibrate
from symacct.explore.comparison import compare
from symacct.explore.falsify import Attack, falsify
from symacct.explore.plots import (
    phase_transition,
    plot,
    plot_profile,
    plot_runs,
    plot_sweep,
    takeover,
)
from symacct.explore.sweeps import Sweep, sweep
from symacct.expr import Node
from symacct.mechanisms import (
    TCDP,
    ZCDP,
    Curve,
    DiscreteGaussian,
    DiscreteLaplace,
    DistributionPair,
    ExponentialFamily,
    ExponentialMechanism,
    FiniteMechanism,
    Gaussian,
    Laplace,
    PermuteAndFlip,
    PureDP,
    RandomizedResponse,
    ScalarGaussian,
    Skellam,
)
from symacct.notation import from_json, parse
from symacct.operations import (
    Compose,
    Convexify,
    GroupPrivacy,
    PoissonSubsample,
    PostProcess,
    Scale,
    SubsampleWithoutReplacement,
    dp_sgd,
)
from symacct.sizes import limits
from symacct.softmax import softmax_bounds
from symacct.theory import Theorem, theorem, theorems
from symacct.version import __version__ as __version__

__all__ = [
    "TCDP",
    "ZCDP",
    "Accountant",
    "Adjacency",
    "AdjacencyError",
    "AssumptionError",
    "Attack",
    "Calibration",
    "Claim",
    "Compose",
    "Convexify",
    "Curve",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DistributionPair",
    "DomainError",
    "Enclosure",
    "ExecutorError",
    "ExponentialFamily",
    "ExponentialMechanism",
    "FiniteMechanism",
    "GapWarning",
    "Gaussian",
    "GroupPrivacy",
    "Guarantee",
    "Kind",
    "Laplace",
    "LimitError",
    "MissingPackageError",
    "Node",
    "OddChiReport",
    "OrderError",
    "OrderGridWarning",
    "Orders",
    "ParseError",
    "PermuteAndFlip",
    "PoissonSubsample",
    "PostProcess",
    "PrecisionError",
    "PureDP",
    "RandomizedResponse",
    "ScalarGaussian",
    "Scale",
    "Skellam",
    "SoundnessError",
    "Source",
    "StorageError",
    "StorageWarning",
    "SubsampleWithoutReplacement",
    "Sweep",
    "SymacctError",
    "Theorem",
    "amplification",
    "baselines",
    "calibrate",
    "catalogue",
    "check_odd_chi",
    "chi_divergence",
    "compare",
    "conversions",
    "dp_sgd",
    "falsify",
    "from_json",
    "laws",
    "limits",
    "parse",
    "phase_transition",
    "plot",
    "plot_profile",
    "plot_runs",
    "plot_sweep",
    "softmax_bounds",
    "sweep",
    "symbols",
    "takeover",
    "ternary_bound",
    "theorem",
    "theorems",
]
