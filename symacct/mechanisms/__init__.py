"""Leaves: what a mechanism is and its curve, a file per family."""

from symacct.kernel.node import Mechanism
from symacct.mechanisms.bins import BallsInBins
from symacct.mechanisms.concentrated import TCDP, ZCDP
from symacct.mechanisms.curve import Curve
from symacct.mechanisms.discrete_gaussian import DiscreteGaussian
from symacct.mechanisms.discrete_laplace import DiscreteLaplace
from symacct.mechanisms.discrete_sum import DiscreteGaussianSum
from symacct.mechanisms.exponential_family import ExponentialFamily
from symacct.mechanisms.finite import FiniteMechanism
from symacct.mechanisms.gaussian import Gaussian, ScalarGaussian
from symacct.mechanisms.iteration import NoisyDescent, NoisyPass
from symacct.mechanisms.laplace import Laplace, VectorLaplace
from symacct.mechanisms.matrix import MatrixMechanism, TreeAggregation
from symacct.mechanisms.noisy_max import GaussianNoisyMax, NoisyMax
from symacct.mechanisms.pair import DistributionPair
from symacct.mechanisms.response import ApproximateDP, PureDP, RandomizedResponse
from symacct.mechanisms.selection import ExponentialMechanism, PermuteAndFlip
from symacct.mechanisms.skellam import Skellam
from symacct.mechanisms.sparse_vector import GaussianSparseVector, SparseVector

__all__ = [
    "TCDP",
    "ZCDP",
    "ApproximateDP",
    "BallsInBins",
    "Curve",
    "DiscreteGaussian",
    "DiscreteGaussianSum",
    "DiscreteLaplace",
    "DistributionPair",
    "ExponentialFamily",
    "ExponentialMechanism",
    "FiniteMechanism",
    "Gaussian",
    "GaussianNoisyMax",
    "GaussianSparseVector",
    "Laplace",
    "MatrixMechanism",
    "Mechanism",
    "NoisyDescent",
    "NoisyMax",
    "NoisyPass",
    "PermuteAndFlip",
    "PureDP",
    "RandomizedResponse",
    "ScalarGaussian",
    "Skellam",
    "SparseVector",
    "TreeAggregation",
    "VectorLaplace",
]
