"""Operations: what was done to mechanisms. No bounds here; those are in amplification/."""

from symacct.operations.compose import Compose
from symacct.operations.convexify import Convexify
from symacct.operations.group import GroupPrivacy
from symacct.operations.postprocess import PostProcess
from symacct.operations.repeat import RepeatAndSelect
from symacct.operations.scale import Scale
from symacct.operations.subsample import PoissonSubsample, SubsampleWithoutReplacement
from symacct.operations.training import dp_sgd

__all__ = [
    "Compose",
    "Convexify",
    "GroupPrivacy",
    "PoissonSubsample",
    "PostProcess",
    "RepeatAndSelect",
    "Scale",
    "SubsampleWithoutReplacement",
    "dp_sgd",
]
