"""The numbers that are asked about, from harmless to extreme, and where training lies."""

from __future__ import annotations

from symacct.mechanisms.integer_noise import IntegerNoise
from symacct.verify.peer.protocol import ASKED, LEAVES

#: Whose parameter is the size of the noise.
SCALED = tuple(name for name, one in ASKED.items() if one.is_scale)
#: Noise on whole numbers, whose query moves by a whole one.
WHOLE = tuple(name for name, kind in LEAVES.items() if issubclass(kind, IntegerNoise))
#: The rows of a matrix.
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

#: Where training lies: sampling rate, runs.
TYPICAL_RATES, TYPICAL_RUNS = (1e-4, 0.2), (1, 1e5)
TYPICAL_DELTAS = 1e-12, 0.01
