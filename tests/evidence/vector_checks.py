"""A question of the test vectors once more by a method that is not ours, from the definition.

Nothing here is symacct's: laws are written down and summed or integrated to more digits than are
compared, and cancellation is met by more of them. Rényi curves are computed in MPFR, which is
several times as fast as mpmath; all else is in mpmath.
"""

import itertools
import math
from functools import cache

import gmpy2
import numpy as np
from gmpy2 import exp, fsum, log, mpfr, sqrt
from mpmath import mp
from mpmath.calculus.quadrature import GaussLegendre

#: Digits in which both agree; the compared numbers have thirty.
AGREED = 28
#: Working digits: few sorts of them, since nodes of quadratures are kept for each.
WORKING = (50, 80, 130)
_MOST_POINTS = 4000
_FEW_ORDERS = 200
#: The largest exponent of R in a contour.
_HIGHEST = 40


class NoMethodError(Exception):
    """No method here reaches the question in reasonable time."""


def check(asks, question):
    """The kind of the check that the question's ends have passed: AssertionError where they fail.

    "quadrature" and "enumeration" are of the definition, "formula" is a closed form summed
    plainly, "float64" agrees to six digits only. NoMethodError where there is none.
    """
    low, high = question["lower"], question["upper"]
    with mp.workdps(WORKING[0]):
        if asks == "rdp":
            found, kind = curve(question)
            assert holds(low, found, high), (question, mp.nstr(found, 35))
            return kind
        if asks == "calibration":
            return calibrated(question)
        if asks.startswith("conversion"):
            return converted(asks, question)
        return profiled(asks, question)


def holds(low, found, high):
    """Is a number known to AGREED digits and more between two ends, given as text?"""
    slack = mp.mpf(high) / mp.mpf(10) ** AGREED
    return mp.mpf(low) - slack <= found <= mp.mpf(high) + slack


def number(forms):
    return mp.inf if forms[1] == "Infinity" else mp.mpf(float.fromhex(forms[1]))


# --- Rényi curves


def curve(question):
    """The sum over the parts, and the weakest kind of their checks."""
    order = real(question["order"])
    total, kinds = mp.mpf(0), set()
    for part in question["parts"]:
        found, kind = one_run(part, order, question["relation"])
        total += part.get("count", 1) * found
        kinds.add(kind)
    return total, next(kind for kind in ("formula", "quadrature", "enumeration") if kind in kinds)


def real(forms):
    """A number of a question, exactly, in MPFR."""
    return mpfr("inf" if forms[1] == "Infinity" else float.fromhex(forms[1]))


def in_mpfr(x):
    """A number of mpmath in MPFR's precision."""
    sign, mantissa, exponent, _ = x._mpf_
    return (-1) ** sign * mpfr(int(mantissa)) * gmpy2.exp2(mpfr(exponent))


def digits_of_mpfr():
    return gmpy2.get_context().precision * math.log10(2)


def one_run(part, order, relation):
    """ε(α) of one run of a part, with as many digits as cancel in log E more than are asked."""
    for digits in WORKING:
        with gmpy2.context(precision=math.ceil(digits / math.log10(2))):
            moment, kind = mean(part, order, relation)
            bare = order == 1 or gmpy2.is_infinite(order)
            found = moment if bare else log(moment)
            # Around 1 what is summed has an error of a unit of the working precision.
            if gmpy2.is_infinite(order) or (
                found and gmpy2.log10(abs(found)) > AGREED + 6 - digits
            ):
                found = found if bare else found / (order - 1)
                if not gmpy2.is_finite(found):
                    raise NoMethodError("beyond the exponents of MPFR")
                mantissa, exponent = found.as_mantissa_exp()
                return mp.ldexp(int(mantissa), int(exponent)), kind
    raise NoMethodError("more cancels than there are digits")


def mean(part, a, relation):
    """E_Q[R^α], at the order 1 E_Q[R log R], at infinity the largest log R; of P and Q mixed."""
    g = real(part["rate"]) if "rate" in part else mpfr(1)
    name = part["mechanism"]
    if name in ("randomized_response", "discrete_gaussian"):
        if name == "discrete_gaussian" and a > _FEW_ORDERS:
            raise NoMethodError("the masses that count are too far out")
        return enumerated(part, a, g, relation), "enumeration"
    fixed = part.get("sampling") == "fixed_size"
    if name == "gaussian" and fixed:
        raise NoMethodError("an integral over the plane")
    scale = real(part["sigma" if name == "gaussian" else "b"])
    s = real(part.get("sensitivity", ["1", "0x1p+0"])) / scale
    if name == "laplace" and gmpy2.is_infinite(a):
        return log(1 - g + g * exp(s)), "formula"
    both = relation == "replace_one" and "rate" in part and not fixed
    try:
        found = (normal if name == "gaussian" else exponential)(s, g, a, both)
        return found, "quadrature"
    except NoMethodError:
        return by_formula(name, s, g, a), "formula"


def power(r, a):
    return r * log(r) if a == 1 else r**a


def normal(s, g, a, both):
    """∫ φ(t) R^α dt, R = 1−γ+γe^{st−s²/2}, by trapezoids: analytic up to π/s off the real line.

    With `both` the record is replaced by its opposite: R^α times a power of R at −t.
    """
    wanted = digits_of_mpfr() * math.log(10)
    d = min(0.9 * math.pi / s, sqrt(mpfr(2 * wanted)))
    d = min(d, 0.4 * math.pi / s) if both else d
    h = 2 * math.pi * d / (wanted + d**2 / 2 + (a * math.log(2) if both else 5))
    reach = math.sqrt(2 * wanted) + 2
    # Between two records of all but all samples R^α R(−t)^{1−α} is e^{(2α−1)st}, up to a constant.
    first, last = -reach - (a * s if both else 0), reach + (2 * a - 1 if both else a) * s
    if (last - first) / h > _MOST_POINTS:
        raise NoMethodError("too many points")
    keep, terms = 1 - g, []
    # Each exponential from the one before: as many roundings as points, of some digits at most.
    with gmpy2.context(precision=gmpy2.get_context().precision + 20):
        grown, growth = g * exp(s * first - s * s / 2), exp(s * h)
        for k in range(int((last - first) / h) + 2):
            t, r = first + k * h, keep + grown
            value = power(r, a)
            if both:
                other = keep + g * exp(-s * t - s * s / 2)
                value = r * log(r / other) if a == 1 else value * other ** (1 - a)
            terms.append(exp(-t * t / 2) * value)
            grown *= growth
        return h * fsum(terms) / sqrt(2 * gmpy2.const_pi())


@cache
def legendre(bits):
    """Gauss and Legendre's nodes and weights on [−1, 1].

    On a piece of `exponential` R^α is analytic up to π(1+α/4) halves of its length: the error of
    n nodes falls by 6.4²ⁿ, and 48 give 70 digits, 96 give 140.
    """
    with mp.workprec(bits + 20), gmpy2.context(precision=bits + 20):
        nodes = GaussLegendre(mp).calc_nodes(5 if bits < 230 else 6, bits + 20)
        return [tuple(mpfr(mp.nstr(x, mp.dps + 3)) for x in pair) for pair in nodes]


def exponential(s, g, a, both):
    """Of Laplace noise: two atoms of log R, at ±s, and a density e^{−sz} between them."""
    if both or s * a > _FEW_ORDERS / 3:
        raise NoMethodError("a peak that is too narrow")

    def at(likely):
        return power(1 - g + g * exp(likely), a)

    pieces = int(s * (1 + a / 4)) + 1
    half, nodes = mpfr(1) / (2 * pieces), legendre(gmpy2.get_context().precision)
    places = (
        ((2 * piece + 1 + x) * half, weight) for piece in range(pieces) for x, weight in nodes
    )
    inside = half * fsum([w * exp(-s * z) * at(s * (2 * z - 1)) for z, w in places])
    return (at(-s) + exp(-s) * at(s) + s * inside) / 2


def by_formula(name, s, g, a):
    """The binomial sum over a plain mechanism's moments, at whole orders."""
    if a == 1 or gmpy2.is_infinite(a) or (g < 1 and (a != int(a) or a > _FEW_ORDERS)):
        raise NoMethodError("no closed form")

    def moment(k):
        if name == "gaussian":
            return exp((k * k - k) * s * s / 2)
        return (k * exp((k - 1) * s) + (k - 1) * exp(-k * s)) / (2 * k - 1)

    if g == 1:
        return moment(a)
    return fsum(
        [
            math.comb(int(a), k)
            * (1 - g) ** (int(a) - k)
            * g**k
            * (moment(mpfr(k)) if k > 1 else 1)
            for k in range(int(a) + 1)
        ]
    )


def enumerated(part, a, g, relation):
    """Outcome by outcome; where others than the record's own may be there the worst three laws."""
    if part["mechanism"] == "discrete_gaussian":
        laws = [discrete_masses(part, a)]
    else:
        p = real(part["p"])
        answers = [(p, 1 - p), (1 - p, p)]
        laws = [list(zip(answers[0], answers[1], strict=True))]
        if relation == "replace_one" and "rate" in part:
            three = itertools.product(answers, repeat=3)
            laws = [
                [
                    ((1 - g) * c + g * x, (1 - g) * c + g * y)
                    for x, y, c in zip(one, other, rest, strict=True)
                ]
                for one, other, rest in three
            ]
            g = mpfr(1)
    return max(mean_of([((1 - g) * q + g * p, q) for p, q in law], a) for law in laws)


def mean_of(masses, a):
    if gmpy2.is_infinite(a):
        return log(max(p / q for p, q in masses))
    if a == 1:
        return fsum([p * log(p / q) for p, q in masses])
    return fsum([p**a * q ** (1 - a) for p, q in masses])


def discrete_masses(part, a):
    sigma = real(part["sigma"])
    move = int(real(part.get("sensitivity", ["1", "0x1p+0"])))
    most = 1 if gmpy2.is_infinite(a) else a
    reach = int(sigma * math.sqrt(2 * digits_of_mpfr() * math.log(10)) + 2 * most * move) + 2
    if reach > _MOST_POINTS:
        raise NoMethodError("too many outcomes")
    weights = {
        k: exp(-mpfr(k * k) / (2 * sigma**2)) for k in range(-reach - move, reach + move + 1)
    }
    total = fsum(list(weights.values()))
    return [(weights[k - move] / total, weights[k] / total) for k in range(-reach, reach + 1)]


# --- profiles


def profiled(asks, question):
    """δ at the given ε, or between those at both ends of ε."""
    delta, kind = profile(question)
    slack = mp.mpf(10) ** -AGREED if kind != "float64" else mp.mpf("1e-6")
    if asks == "delta":
        found, high = delta(number(question["epsilon"])), mp.mpf(question["upper"])
        low = mp.mpf(question["lower"])
        assert low * (1 - slack) <= found <= high * (1 + slack), (question, mp.nstr(found, 35))
        return kind
    given = number(question["delta"])
    low, high = mp.mpf(question["lower"]), mp.mpf(question["upper"])
    if kind == "float64":
        ends = 1 - slack, 1 + slack
        found = delta(high)
        assert ends[0] <= found / given <= ends[1], (question, mp.nstr(found, 35))
        return kind
    assert delta(high * (1 + slack)) <= given, question
    assert not low or delta(low * (1 - slack)) >= given, question
    return kind


def profile(question):
    """ε ↦ δ, and the kind of its check."""
    parts = question["parts"]
    names = {part["mechanism"] for part in parts}
    ((first, *others), count) = parts, parts[0].get("count", 1)
    if names == {"gaussian"} and not any("rate" in part for part in parts):
        square = mp.fsum(part.get("count", 1) / number(part["sigma"]) ** 2 for part in parts)
        return normal_profile(mp.sqrt(square), mp.mpf(1)), "formula"
    if not others and first["mechanism"] == "randomized_response" and count <= 2000:
        return answers_profile(first, count), "enumeration"
    if not others and count == 1:
        g = number(first["rate"]) if "rate" in first else mp.mpf(1)
        if first["mechanism"] == "gaussian":
            return normal_profile(1 / number(first["sigma"]), g), "formula"
        return exponential_profile(1 / number(first["b"]), g), "quadrature"
    if names <= {"gaussian", "randomized_response"} and "rate" in first:
        return contour(parts), "float64"
    raise NoMethodError("no profile")


def of_both(one_way, other_way):
    return lambda y: max(one_way(y), other_way(y), mp.mpf(0))


def normal_profile(s, g):
    """Mass above the place where the ratio is e^y, of the mixture and of N(0, 1), both ways."""

    def place(ratio):  # t with 1−γ+γe^{st−s²/2} = ratio
        inner = (ratio - 1 + g) / g
        return mp.log(inner) / s + s / 2 if inner > 0 else -mp.inf

    def above(t):
        return mp.erfc(t / mp.sqrt(2)) / 2

    def there(y):
        with mp.extradps(60):
            t = place(mp.exp(y))
            return (1 - g) * above(t) + g * above(t - s) - mp.exp(y) * above(t)

    def back(y):
        with mp.extradps(60):
            t = place(mp.exp(-y))
            mixed = (1 - g) * above(-t) + g * above(s - t)
            return mp.mpf(0) if t == -mp.inf else above(-t) - mp.exp(y) * mixed

    return of_both(there, back)


def answers_profile(part, count):
    """Σ (P − e^ε Q)₊ over how many runs gave the likelier answer, both ways."""
    g, p = number(part["rate"]) if "rate" in part else mp.mpf(1), number(part["p"])
    laws = ((1 - g) * (1 - p) + g * p, 1 - p)

    def one_way(p, q):
        def delta(y):
            with mp.extradps(60):
                e, total, term = mp.exp(y), mp.mpf(0), mp.mpf(1)
                for j in range(count + 1):
                    mine = p**j * (1 - p) ** (count - j)
                    theirs = q**j * (1 - q) ** (count - j)
                    total += term * max(mine - e * theirs, 0)
                    term = term * (count - j) / (j + 1)
                return total

        return delta

    return of_both(one_way(*laws), one_way(*reversed(laws)))


def exponential_profile(s, g):
    """∫ (p − e^ε q)₊ of Laplace noise piece by piece, where both are sums of exponentials."""

    def one_way(y, reverse):
        e = mp.exp(y)

        def gap(x):
            q, p = mp.exp(-abs(x)) / 2, mp.exp(-abs(x - s)) / 2
            mixed = (1 - g) * q + g * p
            return q - e * mixed if reverse else mixed - e * q

        with mp.extradps(20):
            level = (mp.exp(-y if reverse else y) - 1 + g) / g
            cut = (mp.log(level) + s) / 2 if level > 0 else -mp.inf
            cut = min(max(cut, mp.mpf(0)), s)
            pieces = [(-mp.inf, 0), (0, cut), (cut, s), (s, mp.inf)]
            total = mp.mpf(0)
            for low, high in pieces:
                if low == -mp.inf or high == mp.inf:  # e^{−|x|} times a constant
                    total += max(gap(high if low == -mp.inf else low), 0)
                elif low < high and gap((low + high) / 2) > 0:
                    places = mp.linspace(low, high, int(s) + 2)
                    total += mp.quad(gap, places, method="gauss-legendre")
            return total

    return of_both(lambda y: one_way(y, False), lambda y: one_way(y, True))


def contour(parts):
    """δ by the inverse Laplace transform of the parts' moments, in float64 and both ways."""

    def laws(part):
        g = float(number(part["rate"])) if "rate" in part else 1.0
        if part["mechanism"] == "randomized_response":
            p = float(number(part["p"]))
            q = np.array([1 - p, p])
            return q, np.log((1 - g) + g * np.array([p, 1 - p]) / q)
        s = 1 / float(number(part["sigma"]))
        t = np.linspace(-14, 14 + _HIGHEST * s, 1201)
        q = np.exp(-t * t / 2) * (t[1] - t[0]) / math.sqrt(2 * math.pi)
        return q, np.log1p(g * np.expm1(s * t - s * s / 2))

    known = [(part.get("count", 1), *laws(part)) for part in parts]

    def one_way(y, reverse):
        losses = [(n, q, -r) if reverse else (n, q * np.exp(r), r) for n, q, r in known]

        def log_moment(s):  # E_P[e^{sL}], its excess over 1 so that many runs do not add roundings
            return sum(n * np.log1p(np.expm1(np.outer(s, loss)) @ p) for n, p, loss in losses)

        cs = np.geomspace(1e-3, _HIGHEST - 1, 100)
        with np.errstate(all="ignore"):
            heights = log_moment(cs) - cs * y - np.log(cs * (cs + 1))
        c = cs[np.nanargmin(heights)]
        top, before = float(np.nanmin(heights)), None
        for step in (c / 4, c / 8, c / 16, c / 32):
            total, begun, rest = 0.0, 0, 1.0
            while rest > 1e-10 and begun < 3000:
                t = step * np.arange(begun, begun + 100)
                s = c + 1j * t
                terms = np.exp(log_moment(s) - s * y - np.log(s * (s + 1)) - top).real
                total += terms.sum() - (terms[0] / 2 if begun == 0 else 0)
                begun, rest = begun + 100, float(np.abs(terms[-20:]).max() * begun)
            total *= step / math.pi
            if rest <= 1e-10 and before is not None and abs(before / total - 1) < 1e-8:
                return mp.mpf(total) * mp.exp(top)
            before = total
        raise NoMethodError("the contour is too long")

    return of_both(lambda y: one_way(float(y), False), lambda y: one_way(float(y), True))


# --- conversions and calibration


def calibrated(question):
    """Balle and Wang's δ at both ends of σ, just outside of them."""
    y, given = number(question["epsilon"]), number(question["delta"])
    move, slack = number(question["sensitivity"]), mp.mpf(10) ** -AGREED
    low, high = (mp.mpf(question[end]) for end in ("lower", "upper"))
    assert normal_profile(move / (low * (1 - slack)), mp.mpf(1))(y) > given, question
    assert normal_profile(move / (high * (1 + slack)), mp.mpf(1))(y) < given, question
    return "formula"


def converted(asks, question):
    """The formula as printed; of the optimal conversion that all two-point pairs are allowed."""
    of_epsilon = asks == "conversion_epsilon"
    given = number(question["delta" if of_epsilon else "epsilon"])
    points = [tuple(map(number, point)) for point in question["curve"]]
    name, low, high = question["conversion"], question["lower"], question["upper"]
    if name == "optimal":
        slack = mp.mpf(10) ** -AGREED
        asked = (lambda x: (x, given)) if of_epsilon else (lambda x: (given, x))
        most = mp.mpf(high) * (1 + slack)
        assert any(two_points(a, eps, *asked(most)) for a, eps in points), question
        least = mp.mpf(low) * (1 - slack)
        allowed = any(two_points(a, eps, *asked(least)) for a, eps in points)
        assert not least or not allowed, question
        return "enumeration"
    formula = {
        ("classic", True): lambda a, e: e - mp.log(given) / (a - 1),
        ("classic", False): lambda a, e: mp.exp((a - 1) * (e - given)),
        ("improved", True): lambda a, e: (
            e + mp.log((a - 1) / a) - (mp.log(given) + mp.log(a)) / (a - 1)
        ),
        ("improved", False): lambda a, e: (
            mp.exp((a - 1) * (e - given)) / (a - 1) * (1 - 1 / a) ** a
        ),
    }[name, of_epsilon]
    found = min(formula(a, e) for a, e in points)
    found = max(found, 0) if of_epsilon else min(found, 1)
    assert holds(low, found, high), (question, mp.nstr(found, 35))
    return "formula"


def two_points(a, eps, epsilon, delta):
    """Does D_α <= ε(α) imply (ε, δ) for pairs on two answers, so for all? H is convex in v."""
    if delta >= 1:
        return True
    small = max(0, int(-mp.log10(delta)))
    near = max(0, int(-mp.log10((a - 1) * eps))) if eps else small
    # H is compared with e^{(α−1)ε}: what is left of a difference from 1 has 80 digits.
    with gmpy2.context(precision=math.ceil((80 + min(small, near)) / math.log10(2))):
        a, eps, epsilon, delta = (in_mpfr(x) for x in (a, eps, epsilon, delta))
        e = exp(epsilon)

        def moment(v):  # of p = v + δ and q = v e^{−ε}
            p, q = v + delta, v / e
            if q == 0:
                return mpfr("inf")
            rest = mpfr(0) if p >= 1 else (1 - p) ** a * (1 - q) ** (1 - a)
            return p**a * q ** (1 - a) + rest

        # v may be as small as δ: first its power of two, by thirds too, as H falls and rises once.
        first, last, share = 0, 4 * small + 99, (3 - sqrt(mpfr(5))) / 2
        while last - first > 2:
            third = (last - first) // 3
            near, far = (
                moment((1 - delta) * gmpy2.exp2(mpfr(-k))) for k in (first + third, last - third)
            )
            first, last = (first, last - third) if near < far else (first + third, last)
        low, high = ((1 - delta) * gmpy2.exp2(mpfr(-k)) for k in (last, first))
        x, y = low + share * (high - low), high - share * (high - low)
        fx, fy = moment(x), moment(y)
        for _ in range(95):
            if fx < fy:
                high, y, fy = y, x, fx
                x = low + share * (high - low)
                fx = moment(x)
            else:
                low, x, fx = x, y, fy
                y = high - share * (high - low)
                fy = moment(y)
        return min(fx, fy, moment(high)) >= exp((a - 1) * eps)
