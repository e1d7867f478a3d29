"""What is said where there is no certificate yet."""

from symacct.core.errors import DomainError, cut

_WHAT_THERE_IS = (
    "there is one for Gaussian, Laplace, RandomizedResponse, PureDP and ZCDP, their Poisson "
    "samples, samples of fixed size by TRIPLE-PURE or by='TRIPLE-DOMINATED', and compositions, "
    "by the classic, improved and optimal conversion at one order; and by the exact one for "
    "Gaussian noise and two answers, on Poisson samples or not"
)
_LONGEST = 400


def no_certificate(found: str, remedy: str = _WHAT_THERE_IS) -> DomainError:
    """The error for what no certificate speaks of."""
    return DomainError(f"certificate: no certificate yet for {cut(found, _LONGEST)}; {remedy}")
