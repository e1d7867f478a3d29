"""What is said where there is no certificate yet, as for numbers that are too long."""

from fractions import Fraction

from symacct.kernel.errors import DomainError, cut

_WHAT_THERE_IS = (
    "there is one for Gaussian, Laplace, RandomizedResponse, PureDP and ZCDP, their Poisson "
    "samples, samples of fixed size by TRIPLE-PURE or by='TRIPLE-DOMINATED', and compositions, "
    "by the classic, improved and optimal conversion at one order; and by the exact one for "
    "Gaussian noise, two answers and laws in numbers, on Poisson samples or not"
)
_LONGEST = 400
_MOST_DIGITS = 400  # of a number, which is how many the checker reads


def no_certificate(found: str, remedy: str = _WHAT_THERE_IS) -> DomainError:
    """The error for what no certificate speaks of."""
    return DomainError(
        f"no certificate yet for {cut(found, _LONGEST)}", where="certificate", remedy=remedy
    )


def number_text(x: Fraction | int) -> str:
    """A number in lowest terms as a certificate has it; DomainError for one that is too long."""
    value = Fraction(x)
    bits = value.numerator.bit_length() + value.denominator.bit_length()
    if bits > 4 * _MOST_DIGITS or len(found := str(value)) > _MOST_DIGITS:
        raise no_certificate(f"a number of more than {_MOST_DIGITS} digits")
    return found
