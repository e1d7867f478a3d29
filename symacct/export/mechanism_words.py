"""What each mechanism and operation is called in a sentence, its parameters in their places."""

from __future__ import annotations


class Counted(str):
    """A parameter in words; {steps:step} in a sentence counts it: one step, 16 steps."""

    __slots__ = ()

    def __format__(self, noun: str) -> str:
        if not noun:
            return str(self)
        return f"one {noun}" if self == "1" else f"{self} {noun}s"


WORDS = {
    "PoissonSubsample": "{mechanism} on a fresh Poisson sample (each record kept independently "
    "with probability {gamma})",
    "SubsampleWithoutReplacement": "{mechanism} on a fresh uniform sample without replacement "
    "(a share {gamma} of the records, of fixed size)",
    "PostProcess": "a post-processing of {mechanism}",
    "RepeatAndSelect": "the best of a random number of runs of {mechanism}, where the number of "
    "runs has {runs}",
    "FiniteMechanism": "a mechanism whose answer is drawn with one of these lists of "
    "probabilities, which the data choose: {laws}",
    "DistributionPair": "a mechanism whose answer is distributed as {P} on one of two neighbouring "
    "datasets and as {Q} on the other, in either order",
    "DistributionPair, with the record": "a mechanism whose answer is distributed as {P} on the "
    "dataset with the record and as {Q} on the one without it",
    "RandomAllocation": "{steps:step} of {mechanism}, with each record in one step, which it draws "
    "independently of other records and in secret",
    "Either": "{first} with probability {share}, and otherwise {second}",
    "Failing": "{mechanism}, which fails with probability {delta} and may then tell everything",
    "GroupPrivacy": "{mechanism}, for groups of {size} records",
    "Scale": "a mechanism whose Rényi curve is stated to be {c} times that of {mechanism}",
    "Convexify": "{mechanism}",
    "ExponentialFamily": "a mechanism of an exponential family (L = {L}, B = {B}, κ = {kappa}, "
    "sensitivity {sensitivity})",
    "ScalarGaussian": "the Gaussian mechanism on one number (σ = {sigma}, sensitivity "
    "{sensitivity})",
    "Gaussian": "the Gaussian mechanism (σ = {sigma}, sensitivity {sensitivity})",
    "GaussianNoisyMax": "noisy-max selection from {candidates} scores with Gaussian noise "
    "(σ = {sigma}, sensitivity {sensitivity})",
    "GaussianSparseVector": "the sparse vector technique (Gaussian noise with σ = "
    "{sigma_threshold} on the threshold and σ = {sigma_query} on each of at most {queries} "
    "queries of sensitivity {sensitivity}, with at most {count:answer} above the threshold)",
    "ExponentialMechanism": "the exponential mechanism (ε = {epsilon})",
    "Laplace": "the Laplace mechanism (b = {b}, sensitivity {sensitivity})",
    "VectorLaplace": "the Laplace mechanism on a vector (b = {b}, ℓ1 sensitivity {sensitivity})",
    "DiscreteGaussian": "the discrete Gaussian mechanism (σ = {sigma}, sensitivity {sensitivity})",
    "DiscreteGaussianSum": "a query with {dimension:whole-number value}, to which each of "
    "{parties} parties adds discrete Gaussian noise (σ = {sigma}, sensitivity {sensitivity})",
    "DiscreteLaplace": "the discrete Laplace mechanism (b = {b}, sensitivity {sensitivity})",
    "MatrixMechanism": "the matrix mechanism (strategy {strategy}, σ = {sigma}, at most "
    "{participations:participation} of a record, at least {separation:step} apart)",
    "NoisyMax": "noisy-max selection from scores with Laplace noise (b = {b}, sensitivity "
    "{sensitivity})",
    "NoisyDescent": "the last of {steps:noisy iterate} (σ = {sigma}, contraction {contraction}, "
    "diameter {diameter}), with each record in every step",
    "NoisyPass": "the last noisy iterate (σ = {sigma}, contraction {contraction}), with the record "
    "in the first of the last {steps:step}",
    "PermuteAndFlip": "the permute-and-flip mechanism (ε = {epsilon})",
    "RandomizedResponse": "randomized response (the true answer with probability {p})",
    "ApproximateDP": "an (ε, δ)-differentially private mechanism (ε = {epsilon}, δ = {delta})",
    "PureDP": "an ε-differentially private mechanism (ε = {epsilon})",
    "Skellam": "the Skellam mechanism (variance μ = {mu}, sensitivity {sensitivity})",
    "SparseVector": "the sparse vector technique (Laplace noise with b = {b_threshold} on the "
    "threshold and b = {b_query} on each query of sensitivity {sensitivity}, with at most "
    "{count:answer} above the threshold)",
    "TreeAggregation": "binary tree aggregation over {steps:step} (σ = {sigma}), with each record "
    "in one of them",
    "ZCDP": "a zero-concentrated differentially private mechanism (ρ = {rho}, ξ = {xi})",
    "TCDP": "a truncated concentrated differentially private mechanism (ρ = {rho}, ω = {omega})",
}
