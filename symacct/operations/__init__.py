"""Operations: what was done to mechanisms. No bounds here; those are in amplification/."""

from symacct.kernel.operation import Compose
from symacct.operations.allocation import RandomAllocation
from symacct.operations.curves import Convexify, Scale
from symacct.operations.descent import sampled_descent
from symacct.operations.either import Either
from symacct.operations.failing import Failing
from symacct.operations.group import GroupPrivacy
from symacct.operations.postprocess import PostProcess
from symacct.operations.recipes import band_mf, dp_sgd, sample_with_replacement, truncated_poisson
from symacct.operations.repeat import RepeatAndSelect
from symacct.operations.shuffled import Shuffled, shuffled
from symacct.operations.subsample import PoissonSubsample, SubsampleWithoutReplacement
from symacct.operations.thresholded import least_threshold, thresholded

__all__ = [
    "Compose",
    "Convexify",
    "Either",
    "Failing",
    "GroupPrivacy",
    "PoissonSubsample",
    "PostProcess",
    "RandomAllocation",
    "RepeatAndSelect",
    "Scale",
    "Shuffled",
    "SubsampleWithoutReplacement",
    "band_mf",
    "dp_sgd",
    "least_threshold",
    "sample_with_replacement",
    "sampled_descent",
    "shuffled",
    "thresholded",
    "truncated_poisson",
]
