"""The numbers that are asked about, from harmless to extreme, and where training lies."""

from __future__ import annotations

#: From harmless to extreme; the first of each are what `--quick` asks.
PARAMETERS = {
    "Gaussian": ["1", "5", "0.05", "10000", "50", "0.5", "2", "0.25", "1000"],
    "Laplace": ["1", "2", "0.05", "1000", "0.5", "20", "10000"],
    "RandomizedResponse": ["0.6", "0.9", "0.999999", "0.5001", "0.75"],
    "PureDP": ["1", "0.1", "20", "1e-6", "5"],
    "ZCDP": ["0.1", "1", "1e-8", "100"],
    "DiscreteGaussian": ["1", "5", "0.5", "50", "2", "0.25"],
    "DiscreteLaplace": ["1", "2", "0.5", "20", "0.1"],
    "Skellam": ["4", "25", "1", "400"],
    "TreeAggregation": ["5", "1", "50", "0.5"],
    "MatrixMechanism": ["5", "1", "50", "0.5"],
}
HARMLESS = {
    "Gaussian": "10000", "Laplace": "10000", "RandomizedResponse": "0.5001", "PureDP": "1e-6",
    "ZCDP": "1e-8", "DiscreteGaussian": "100", "DiscreteLaplace": "1000", "Skellam": "10000",
    "TreeAggregation": "10000", "MatrixMechanism": "10000",
}  # fmt: skip
#: Whose parameter is the size of the noise.
SCALED = (
    "Gaussian", "Laplace", "DiscreteGaussian", "DiscreteLaplace", "TreeAggregation",
    "MatrixMechanism",
)  # fmt: skip
#: Noise on whole numbers, whose query moves by a whole one.
WHOLE = ("DiscreteGaussian", "DiscreteLaplace", "Skellam")
#: Parameters beyond the first: ξ of zCDP, the steps of a tree. And the rows of a matrix.
REST = {"ZCDP": ("0",), "TreeAggregation": ("1000",)}
STRATEGY = (("1", "0", "0"), ("0.5", "1", "0"), ("0.375", "0.5", "1"))
RATES = ["0.001", "0.1", "1e-9", "0.999", "0.01", "0.5", "1e-6", "1e-4", "0.9", "0.999999999"]
WHOLE_ORDERS = ["2", "8", "64", "1024", "3", "32", "256", "4096", "4", "16", "128", "512"]
FRACTIONAL_ORDERS = [
    "1.5", "2.5", "1.00000001", "10.5", "1000.5", "1.1", "33.3", "1.01", "1.0001", "1.999999",
    "2.000001", "3.7", "100.1", "4095.5",
]  # fmt: skip
#: Beyond what most tables have.
LARGE_ORDERS = ["20000", "5000", "100000", "10000.5"]
MOST_RUNS = 1e6
#: Of what is sampled, where that may be several runs.
INNER = (1, 1, 3, 100)
DELTAS = ["1e-5", "1e-8", "0.001", "1e-12"]
EPSILONS = ["1", "0.1", "5"]
NEGATIVE = ["-0.1", "-1", "-0.01"]
#: Orders to be searched, where the peer can be told: what it then answers is known exactly.
SHORT_GRID = ("2", "3", "5", "8", "16", "32", "64")
FRACTIONAL_GRID = ("1.25", "1.75", "2.5", "3.75", "5.5", "8.5", "16.5", "33.5")

#: Where training lies: noise, sampling rate, runs.
TYPICAL = {
    "Gaussian": (0.4, 20),
    "Laplace": (0.4, 20),
    "RandomizedResponse": (0.55, 0.95),
    "PureDP": (0.01, 2),
    "ZCDP": (1e-4, 1),
    "DiscreteGaussian": (0.4, 20),
    "DiscreteLaplace": (0.4, 20),
    "Skellam": (0.5, 400),
    "TreeAggregation": (0.4, 20),
    "MatrixMechanism": (0.4, 20),
}
TYPICAL_RATES, TYPICAL_RUNS = (1e-4, 0.2), (1, 1e5)
TYPICAL_DELTAS = 1e-12, 0.01
