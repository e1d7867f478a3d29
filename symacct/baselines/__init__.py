"""What RDP is compared with: compositions of (ε, δ), the exact Gaussian, routes to DP-SGD.

Every ε is in nats.

>>> from symacct import baselines
>>> print(baselines.naive("1/10", "1e-6", 10).epsilon.rounded_up(5))
1.0000
"""

from symacct.baselines.agarwal21 import skellam_bound
from symacct.baselines.birrell24 import fixed_size_taylor, poisson_taylor
from symacct.baselines.composition import (
    advanced,
    best_over_rounds,
    kairouz,
    naive,
    optimal,
    strong,
)
from symacct.baselines.discrete_sum import discrete_sum_rdp
from symacct.baselines.dp import chi_to_delta, subsampled_dp
from symacct.baselines.dpsgd import route_one, route_three, route_two
from symacct.baselines.exponential_runs import exponential_runs, exponential_runs_epsilon
from symacct.baselines.gaussian import (
    bad_data,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_profile,
    good_data,
)
from symacct.baselines.moments import MomentConstant, moment_constant
from symacct.baselines.replacement import with_replacement
from symacct.baselines.result import Baseline
from symacct.baselines.reverse import reverse_moment_bound
from symacct.baselines.shuffle import (
    shuffled,
    shuffled_closed,
    shuffled_epsilon,
    shuffled_least_rdp,
    shuffled_rdp,
    shuffled_responses,
    shuffled_responses_epsilon,
    shuffled_responses_rdp,
)
from symacct.baselines.shuffled_batches import shuffled_batches, shuffled_batches_epsilon

__all__ = [
    "Baseline",
    "MomentConstant",
    "advanced",
    "bad_data",
    "best_over_rounds",
    "chi_to_delta",
    "discrete_sum_rdp",
    "exponential_runs",
    "exponential_runs_epsilon",
    "fixed_size_taylor",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_profile",
    "good_data",
    "kairouz",
    "moment_constant",
    "naive",
    "optimal",
    "poisson_taylor",
    "reverse_moment_bound",
    "route_one",
    "route_three",
    "route_two",
    "shuffled",
    "shuffled_batches",
    "shuffled_batches_epsilon",
    "shuffled_closed",
    "shuffled_epsilon",
    "shuffled_least_rdp",
    "shuffled_rdp",
    "shuffled_responses",
    "shuffled_responses_epsilon",
    "shuffled_responses_rdp",
    "skellam_bound",
    "strong",
    "subsampled_dp",
    "with_replacement",
]
