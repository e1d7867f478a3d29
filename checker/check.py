"""Check a certificate of differential privacy:  python check.py FILE

The first word printed is the verdict: proved (exit status 0), refuted (1) or cannot check (2).
Nothing that the file says is believed: its numbers are exact fractions, and all bounds are worked
out again in intervals. Only THEOREMS is taken on trust. docs/certificates.md has the mathematics.
"""

import json
import math
import re
import sys
from collections import namedtuple
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import cache
from itertools import accumulate, combinations, groupby, pairwise, permutations, product

PRECISIONS = (192, 384, 768)  # bits after the point: more where fewer do not decide
BITS, GUARD = PRECISIONS[0], 64  # the bits now, and so many more within exp
WORK, MOST_WORK = 0, 2_000_000  # exponentials, some 30 µs each: no small file may ask for hours
MOST_BYTES, MOST_DIGITS, MOST_NODES = 1_000_000, 400, 20_000  # of a file, a number, a contour


class Refuted(Exception):
    """A finding. ArithmeticError: more bits may tell. Any other error: it can't be checked."""


def need(holds, why):
    if not holds:
        raise Refuted(why)


def spend(work):
    global WORK
    if (WORK := WORK + work) > MOST_WORK:
        raise ValueError(f"it takes more than {MOST_WORK} exponentials")


# 1. ARITHMETIC: a number is known to lie in a ball.
class Ball(namedtuple("Ball", "re im rad", defaults=(0, 0))):
    """All complex numbers within rad of re + i·im, in units of 2^-BITS; reals have im = 0."""

    def __add__(self, other):
        other = ball(other)
        return Ball(self.re + other.re, self.im + other.im, self.rad + other.rad)

    def __mul__(self, other):
        """|xy − ab| <= |a| r_y + |b| r_x + r_x r_y, and the shifts cut off less than 3 units."""
        other = ball(other)
        if sum(max(abs(x.re), abs(x.im)).bit_length() - BITS for x in (self, other)) > 1 << 22:
            raise ValueError("a number is beyond 2^4000000")
        re = self.re * other.re - self.im * other.im >> BITS
        im = self.re * other.im + self.im * other.re >> BITS
        wide = self.size() * other.rad + other.size() * self.rad + self.rad * other.rad
        return Ball(re, im, (wide >> BITS) + 3)

    def __truediv__(self, other):
        """|x/y − a/b| <= (|a| r_y + b r_x)/(b(b − r_y)), for reals x and y > 0."""
        b, least = (other := ball(other)).re, other.re - other.rad
        if least <= 0:
            raise ArithmeticError("a divisor is not known to be positive")
        wide = (abs(self.re) * other.rad + b * self.rad << BITS) // (b * least)
        return Ball((self.re << BITS) // b, 0, wide + 2)

    def __le__(self, other):
        gap = other - self
        if -gap.rad <= gap.re < gap.rad:
            raise ArithmeticError("two numbers are too close to each other to be told apart")
        return gap.re > 0

    __str__ = lambda x: f"{Decimal(x.re + x.rad) / 2**BITS:.6g}"
    __neg__ = lambda x: Ball(-x.re, -x.im, x.rad)
    __sub__ = lambda x, y: x + -ball(y)
    __rsub__ = lambda x, y: -x + y
    __rtruediv__ = lambda x, y: ball(y) / x
    __pow__ = lambda x, k: (x * x) ** (k // 2) * (x if k % 2 else 1) if k else ball(1)
    __radd__, __rmul__ = __add__, __mul__
    size = lambda x: math.isqrt(x.re**2 + x.im**2) + 1 if x.im else abs(x.re)


def ball(x, im=0):
    """The ball of an exact number x + i·im: ball(1) is 1, but Ball(1) one unit, 2^-BITS."""
    if isinstance(x, Ball):
        return x
    (a, b), (c, d) = Fraction(x).as_integer_ratio(), Fraction(im).as_integer_ratio()
    return Ball((a << BITS) // b, (c << BITS) // d, 2)


def odd_series(y, sign):
    """y + s y³/3 + y⁵/5 + s y⁷/7 + …: atanh y for s = 1, atan y for s = −1; fixed point."""
    square, power, total, n = y * y >> BITS + GUARD, y, 0, 1
    while power:
        total += power // n
        power, n = sign * (power * square >> BITS + GUARD), n + 2
    return total


@cache
def constants(bits):
    """log 2 = 2 atanh ⅓ and π = 16 atan ⅕ − 4 atan 1/239 (Machin), cut by less than 2^15."""
    one = 1 << bits + GUARD
    pi = 16 * odd_series(one // 5, -1) - 4 * odd_series(one // 239, -1)
    return 2 * odd_series(one // 3, 1), pi


def exp(x):
    """e^x, the 2^m-th power of Taylor's series at x/2^m, |x| < 2^(m−8); e^r − 1 <= 2r, r <= 1."""
    x, w = ball(x), BITS + GUARD
    m = bits_of(x) + 8
    spend(1 + (1 << m >> 21))  # large ones take longer
    if x.rad >> BITS or m > 29:
        raise (ArithmeticError if x.rad >> BITS else ValueError)("a number is beyond e^2000000")
    y, angle = (x.re << GUARD) >> m, (x.im << GUARD) >> m
    n, re, im, a, b = 0, 1 << w, 0, 1 << w, 0
    while abs(a) + abs(b) > 2:  # a + ib is the n-th term, re + i·im the sum so far
        n += 1
        a, b = (a * y - b * angle >> w) // n, (a * angle + b * y >> w) // n
        re, im = re + a, im + b
    for _ in range(m):
        re, im = re * re - im * im >> w, re * im >> w - 1
    return Ball(re >> GUARD, im >> GUARD, ((2 * x.rad + 1) * (abs(re) + abs(im)) >> w) + 3)


def log(x):
    """log x = k log 2 − 2 atanh((1−m)/(1+m)) of a real x = m 2^k > 0 with ½ <= m < 1."""
    x, w = ball(x), BITS + GUARD
    if x.re <= x.rad:
        raise ArithmeticError("a number is not known to be positive")
    k = x.re.bit_length()
    m, one = x.re << w - k if k < w else x.re >> k - w, 1 << w
    value = (k - BITS) * constants(BITS)[0] - 2 * odd_series((one - m) * one // (one + m), 1)
    return Ball(value >> GUARD, 0, (x.rad << BITS) // (x.re - x.rad) + 3)


pi = lambda: Ball(constants(BITS)[1] >> GUARD, 0, 2)
power = lambda t, a, y=0: exp(a * log(t) + y)  # t^a e^y
root = lambda x: power(x, Fraction(1, 2))
tail = lambda most, x: power(most, 1, -x * x / 2) / 2  # >= most·P(Z > x), x = reach(…) >= 0
error = lambda most: Ball(0, 0, most.re + most.rad)  # all complex numbers up to a size
positive = lambda x: Ball(max(x.re, 0), 0, x.rad)  # max(x, 0), which moves no more than x does
bits_of = lambda x: (x.size() + x.rad >> BITS).bit_length()  # a whole n with |x| < 2^n
steered = lambda x: Fraction(math.floor(x * 2**20), 2**20)  # a choice below x; no proof needs it
mix = lambda rate, ratio: 1 - rate + rate * ratio  # T of P/Q
psi = lambda t, a, y=0: power(t, a, y) + power(t, 1 - a, y) - (t + 1) * exp(y)
reach = lambda most: steered(math.sqrt(BITS + 2 * bits_of(most)))  # where most·tail is negligible


# 2. MOMENTS of T = 1−γ+γP/Q, the ratio of the laws with the record and without, γ the rate.
def trapezoid(f, d, edge, left, right):
    """∫f = h Σ f(jh) ± 2·edge/(e^{2πd/h} − 1), f analytic and ∫|f| <= edge where |Im v| < d."""
    h = steered(9 * float(d) / (0.7 * BITS + bits_of(edge)))  # 9 < 2π/log 2: below 2^(1−.7 BITS)
    nodes = range(math.floor(left / h), math.ceil(right / h) + 1)
    return h * sum(f(j * h) for j in nodes) + error(2 * edge / (exp(2 * pi() * d / h) - 1))


def between(f, low, high, height, most):
    """∫f, x = low + (high−low)/(1+e^{−v}); |f| <= most in the lens, as |Im x| < height there."""
    width, far = high - low, BITS // 2 + bits_of(most)
    d = min(Fraction(3, 2), 16 * height / (5 * width))
    g = lambda v: f(low + width * (share := 1 / (1 + exp(-v)))) * share * (1 - share)
    total = trapezoid(g, d, most * pi() / 2, -far, far)
    return width * (total + error(2 * power(most, 1, -far)))


class Gaussian(namedtuple("Gaussian", "s")):
    """Q = N(0, 1) and P = N(s, 1)."""

    def moment(self, rate, a, t=0):
        """E_Q[T^z], z = a+it; T^a <= 2 + γ(P/Q)^b or (1−γ)^a. If γ = 1 it is e^{z(z−1)s²/2}."""
        s, z, b, low = self.s, ball(a, t), max(a, 1), min(a, 0)
        if rate == 1:
            return exp(z * (z - 1) * (s**2 / 2))
        most = 2 + rate * exp(b * (b - 1) * s**2 / 2) + power(1 - rate, low)
        far, d = reach(most), steered(min(3 / s, math.sqrt(BITS)))
        f = lambda x: power(mix(rate, exp(s * x - s**2 / 2)), z, -x * x / 2)
        edge = root(2 * pi()) * most * exp(d**2 / 2 + t * s * d - 3 * low)
        total = trapezoid(f, d, edge, -far, b * s + far)  # T^a is large about bs, not about −bs
        return total * (1 / root(2 * pi())) + error(2 * tail(most, far))

    def moment_beyond(self, rate, a, t):
        """|E_Q[T^{a+iτ}]| <= e^{θ²/2s²}(m₀ − cm₁ + c²m₂/2), c = t(θ−θ³/6) − 5a⁻θ²/4, τ >= t."""
        s, low = self.s, min(a, 0)  # a⁻ = −low; any θ up to 2 and t/(1+4a⁻) holds, for c >= 0 there
        if rate == 1:
            return exp((a * a - a - t * t) * s**2 / 2)
        f0, f1, f2 = (self.moment(rate, a - j) for j in range(3))
        m1, m2 = f0 - (1 - rate) * f1, f0 - 2 * (1 - rate) * f1 + (1 - rate) ** 2 * f2
        theta = min(steered(abs(t * m1.re / (f0.re / s**2 + t**2 * m2.re))), 2, t / (1 - 4 * low))
        c = t * (theta - Fraction(theta) ** 3 / 6) + Fraction(5, 4) * low * theta**2
        return exp((theta / s) ** 2 / 2) * (f0 - c * m1 + c**2 * m2 / 2)

    def upper_half(self, rate, a):
        """E_Q[ψ(T); P > Q]: x > s/2; |ψ| <= 2|T|^a + (1−γ)^{1−a} + 1, and ψ(T) <= T^a."""
        s, convex = self.s, 1 - rate + rate * exp(a * (a - 1) * self.s**2 / 2)  # >= E_Q[T^a]
        end, height = a * s + reach(convex), min(3 / (2 * s), Fraction(4))
        most = (2 * convex + power(1 - rate, 1 - a) + 1) * exp(height**2 / 2)
        f = lambda x: psi(mix(rate, exp(s * x - s**2 / 2)), a, -x * x / 2)
        return between(f, s / 2, end, height, most) / root(2 * pi()) + tail(convex, end - a * s)


class Laplace(namedtuple("Laplace", "s")):
    """P/Q is e^{2x−s} on ½e^{−x}dx for 0 < x < s, e^s on ½e^{−s} and e^{−s} on ½."""

    def moment(self, rate, a):
        """E_Q[T^a]; (ae^{(a−1)s} + (a−1)e^{−as})/(2a−1) if γ = 1."""
        if rate == 1:
            return (a * exp((a - 1) * self.s) + (a - 1) * exp(-a * self.s)) / (2 * a - 1)
        return self.upper_half(rate, a, power, Fraction(0)) + power(mix(rate, exp(-self.s)), a) / 2

    def upper_half(self, rate, a, g=psi, share=Fraction(1, 2)):
        """E_Q[g(T); x > s/2], |g| <= 2u^a + (1−γ)^{1−a} + 1 for u = 1−γ+γe^s; or x > share·s."""
        most = 2 * power(mix(rate, exp(self.s)), a) + power(1 - rate, 1 - a) + 1
        f = lambda x: g(mix(rate, exp(2 * x - self.s)), a, -x) / 2
        return between(f, share * self.s, self.s, Fraction(3, 4), most) + f(self.s)


class Answers(tuple):
    """Finitely many outcomes of the probabilities (p, q); of two, the likelier one first."""

    two = classmethod(lambda cls, p: cls([(p, 1 - p), (1 - p, p)]))
    upper_half = lambda self, rate, a: self[0][1] * psi(mix(rate, self[0][0] / self[0][1]), a)
    moment_beyond = lambda self, rate, a, t: self.moment(rate, a)
    moment = lambda x, rate, a, t=0: sum(q * power(mix(rate, p / q), ball(a, t)) for p, q in x)


class Part(namedtuple("Part", "count leaves rate where")):
    """Runs of (times, type, parameters), …; where: "" for all the data, or "Pa" as in THEOREMS."""

    def laws(self):
        """The pairs (P, Q) that a run may have; of laws in numbers, outcomes of one p/q are one."""
        [(times, kind, values)] = self.leaves
        need(times == 1, "the theorem is about one mechanism")
        if kind in ("Gaussian", "Laplace"):
            return [(Gaussian if kind == "Gaussian" else Laplace)(values[1] / values[0])]
        if kind == "RandomizedResponse":
            return [Answers.two(max(values[0], 1 - values[0]))]
        if kind == "PureDP":
            return [Answers.two(1 / (1 + exp(-values[0])))]
        spend(len(values) ** 2 * len(values[0]))
        found = set()
        for one, other in permutations(values, 2):
            masses = sorted((p / (p + q), p, q) for p, q in zip(one, other, strict=True) if p + q)
            groups = (zip(*group, strict=True) for _, group in groupby(masses, lambda x: x[0]))
            found.add(Answers((sum(p), sum(q)) for _, p, q in groups))
        return list(found)

    def pair(self, alpha):
        """E_Q[T^α], the mechanism's pair of laws being the worst one; e^{(α−1)(ξ+ρα)} of zCDP."""
        [(_, kind, values)] = self.leaves
        if kind == "ZCDP":
            return exp((alpha - 1) * (values[1] + values[0] * alpha))
        return self.laws()[0].moment(self.rate, alpha)

    dominated = lambda self, alpha: 1 + self.laws()[0].upper_half(self.rate, alpha)

    def pure(self, alpha):
        """max{E_Q[T^α], (u^α + u^{1−α} + e(1−γ) + γ)/(e+2)} of two answers, u = 1−γ+γe, e = p/q."""
        rate, [answers] = self.rate, self.laws()
        e = answers[0][0] / answers[0][1]
        up, two = power(1 - rate + rate * e, alpha), answers.moment(rate, alpha)
        three = (up + (1 - rate + rate * e) / up + e * (1 - rate) + rate) / (e + 2)
        return two + positive(three - two)

    def binomial(self, alpha):
        """Σ_l C(α,l)(1−γ)^{α−l}γ^l e^{(l−1)ε(l)} at whole orders α, with 1 for e^… where l < 2."""
        need(alpha.denominator == 1, "the theorem holds at whole orders from 2 on")
        yes, no, total, n = log(self.rate), log(1 - self.rate), ball(0), int(alpha)
        parts = [Part(times, [(1, *leaf)], 1, "") for times, *leaf in self.leaves]
        for l in range(n + 1):
            more = sum(part.count * log(part.pair(Fraction(l))) for part in parts if l > 1)
            total = total + exp(log(math.comb(n, l)) + l * yes + (n - l) * no + more)
        return total


# 3. CONVERSIONS: does ε(α) <= ρ imply (ε, δ)?
classic = lambda rho, a, epsilon, delta: rho - log(delta) / (a - 1) <= epsilon
improved = lambda rho, a, epsilon, delta: classic(rho + log(1 - 1 / a), a, epsilon, a * delta)


def optimal(rho, a, epsilon, delta, place):
    """H(v) = p^a q^{1−a} + (1−p)^a (1−q)^{1−a} >= e^{(a−1)ρ} for all v, by the tangent at one."""
    v, lean = number(place, 0, 1 - delta), exp(-epsilon)  # p = v+δ, q = ve^{−ε}
    p, up, down = v + delta, (v + delta) / (v * lean), (1 - v - delta) / (1 - v * lean)
    high, low = (exp((a - 1) * (log(x) - rho)) for x in (up, down))
    slope = a * (high - low) + (a - 1) * lean * (low * down - high * up)  # H′(v): p′ = 1, q′ = lean
    value = p * high + (1 - p) * low
    return ball(1) <= value - slope * v and ball(1) <= value + slope * (1 - p)


# 4. THE PROFILE δ(y) = Σ (P − e^y Q)⁺ of (P, Q), P with the record and Q without it.
def by_sum(runs, y, added):
    """Σ (P − e^y Q)⁺, P = k!/Πj_i! Πp_i^{j_i} where i comes j_i times; 1 − Σ P has a Q of 0."""
    rows, rest = [(ball(1), exp(y))], ball(1)
    for k, rate, law in runs:
        law = [(rate * p + (1 - rate) * q, q)[:: -1 if added else 1] for p, q in law]  # (Q, P)
        law = [(p, q) for p, q in law if p and q]
        spend(k * len(law) + 4 * len(rows) * math.comb(k + len(law) - 1, k))
        logs = [[log(x) for x in masses] for masses in zip(*law, strict=True)]
        factorials = [*accumulate(map(log, range(1, k + 1)), initial=ball(0))]  # log j!
        table = []
        for bars in combinations(range(k + len(law) - 1), len(law) - 1):
            times = [b - a - 1 for a, b in pairwise((-1, *bars, k + len(law) - 1))]
            ways = factorials[k] - sum(factorials[j] for j in times)
            sums = (sum(map(math.prod, zip(times, x, strict=True))) for x in logs)
            table.append([exp(ways + x) for x in sums])
        rows = [(p * x, q * z) for p, q in rows for x, z in table]
        rest = rest * ball(sum(p for p, _ in law)) ** k
    return 1 - rest + sum(positive(p - q) for p, q in rows)


def by_contour(runs, y, added, c, step, nodes):
    """(h/2π) Σ M(s)e^{−sy}/(s(s+1)), s = c+inh, M = Π E_Q[T^z]^k; e^{−cy}ΠB^k/(πhN) beyond.

    z = 1+s, or −s for a record added.
    """
    total, end, (a, turn) = ball(0), (nodes + 1) * step, (-c, 1) if added else (1 + c, -1)
    rest = math.prod(law.moment_beyond(rate, a, end) ** k for k, rate, law in runs)
    for n in range(nodes + 1):
        t = n * step
        value = math.prod(law.moment(rate, a, t) ** k for k, rate, law in runs)
        size = (c * c + t * t) * ((c + 1) ** 2 + t * t)
        kernel = ball((c * (c + 1) - t * t) / size, turn * t * (2 * c + 1) / size)
        value = value * kernel * exp(ball(-c * y, turn * t * y))
        total = total + (2 if n else 1) * Ball(value.re, 0, value.rad)
    return total * step / (2 * pi()) + rest * exp(-c * y) / (pi() * step * nodes)


# 5. THE DOCUMENT: every key is known, none is missing, and numbers are fractions in lowest terms.
KEYS = "format version expression mechanism relation epsilon delta theorems proof"
NAMES = """Gaussian sigma sensitivity, Laplace b sensitivity, RandomizedResponse p, PureDP epsilon,
ZCDP rho xi, FiniteMechanism laws, DistributionPair P Q"""
PARAMETERS = {kind: names for kind, *names in map(str.split, NAMES.split(","))}
RELATIONS = {"add_remove": "a", "replace_one": "r", "zero_out": "z"}
CONVERSIONS = {"classic": "MIR17-P3", "improved": "CKS20-P12", "optimal": "ALCKS21"}
CURVES = dict.fromkeys(PARAMETERS, "MIR17-T2") | {"PureDP": "KOV15", "ZCDP": "BS16-D1.1"}
#: Of which mechanisms a theorem speaks, by their first letters; of which samples, by the letters
#: of their kind and relation; what of E_Q[T^α] it says; and what is taken on trust.
THEOREMS = {
    "ALCKS21": ("", "", optimal, "two answers are the worst of ε(α) <= ρ (Asoodeh et al. 2021)"),
    "BS16-D1.1": ("Z", "", Part.pair, "ε(α) <= ξ + ρα is what zCDP means (Bun, Steinke 2016)"),
    "CKS20-P12": ("", "", improved, "the improved conversion (Canonne et al. 2020, Prop. 12)"),
    "KOV15": ("P", "", Part.pair, "two answers are the worst ε-DP (Kairouz et al. 2015)"),
    "MIR17-P1": ("", "", sum, "curves of adaptive runs add up (Mironov 2017, Proposition 1)"),
    "MIR17-P3": ("", "", classic, "the classic conversion (Mironov 2017, Proposition 3)"),
    "MIR17-T2": ("GLR", "", Part.pair, "curves of noise and answers (Mironov 2017, Table II)"),
    "MTZ19-EXACT": ("G", "Pa Sa Pz", Part.pair, "the worst pair (Mironov et al. 2019, Theorem 5)"),
    "PAIR-EXACT": ("LRP", "Pa Sa Pz", Part.pair, "the worst, if a symmetry swaps it (the same)"),
    "S22-POISSON": ("GLRPZ", "Pa Sa Pz", Part.binomial, "the sum over l (Steinke 2022)"),
    "TRIPLE-DOMINATED": ("GLRP", "Sr", Part.dominated, "what dominates (Lemma dominated-triples)"),
    "TRIPLE-FINITE": ("R", "Pr Sr", Part.pair, "the worst of two laws (Lemma three-laws)"),
    "TRIPLE-LINE": ("L", "Sr", Part.pair, "the worst of noise on the line (Lemma line-noise)"),
    "TRIPLE-PURE": ("PR", "Sr", Part.pure, "the worst of ε-DP mechanisms (Lemma pure-fixed-size)"),
    "ZDW22": ("", "", by_sum, "pairs that dominate compose, one way round (Zhu et al. 2022)"),
}


def number(text, least=0, most=math.inf, whole=False):
    """A fraction, written in the one way, between two ends; or a whole number."""
    if isinstance(text, str) and len(text) > MOST_DIGITS:
        raise ValueError(f"a number has more than {MOST_DIGITS} characters")
    need(type(text) is str and re.fullmatch("(0|[1-9][0-9]*)(/[1-9][0-9]*)?", text), "no text p/q")
    need(str(value := Fraction(text)) == text, f"{text} is not in lowest terms")
    need(least < value < most, f"{text} is not between {least} and {most}")
    need(not whole or value.denominator == 1, f"{text} is not whole")
    return int(value) if whole else value


class Node(dict):
    def __init__(self, pairs):
        super().__init__(pairs)
        need(len(self) == len(pairs), "a key is there twice")

    def read(self, *names):
        """The values, if exactly these are the keys."""
        need(set(self) == set(names), f"not an object of {names}")
        return [self[name] for name in names]

    def terms(self):
        """The (count, node) of a composition; any other node is one run of itself."""
        if self.get("type") != "Compose":
            return [(1, self)]
        _, terms = self.read("type", "terms")
        need(terms, "a composition of nothing")
        return [(number(count, whole=True), node) for count, node in terms]

    def leaf(self):
        """The type of a mechanism, and its parameters or its laws."""
        kind, *given = self.read("type", *PARAMETERS[self["type"]])
        if kind not in ("FiniteMechanism", "DistributionPair"):
            ends = -(kind == "ZCDP"), 1 if kind == "RandomizedResponse" else math.inf
            return kind, [number(x, *ends) for x in given]
        laws = given[0] if kind == "FiniteMechanism" else given
        sums = [sum(number(x, -1) for x in law) for law in laws if type(law) is list]
        need(len(laws) > 1 and sums == [1] * len(laws), "a law does not sum to 1")
        return kind, [[*map(Fraction, law)] for law in laws]

    def parts(self):
        """The parts of an expression."""
        for count, node in self.terms():
            terms, rate, where = [(1, node)], Fraction(1), ""
            if node["type"] in ("PoissonSubsample", "SubsampleWithoutReplacement"):
                kind, inner, rate, relation = node.read("type", "mechanism", "gamma", "adjacency")
                where = kind[0] + RELATIONS[relation]
                terms, rate = inner.terms(), number(rate, 0, 1)
            yield Part(count, [(times, *leaf.leaf()) for times, leaf in terms], rate, where)

    def text(self):
        """The expression as a person reads it."""
        if self["type"] == "Compose":
            terms = ((f"{count}*" if count > 1 else "", node) for count, node in self.terms())
            return " + ".join(count + node.text() for count, node in terms)
        named = [(name, x) for name, x in self.items() if name != "type"]
        texts = (f"{name}={x.text() if isinstance(x, Node) else repr(x)}" for name, x in named)
        return f"{self['type']}({', '.join(texts)})"


# 6. THE VERDICT
def by_renyi(parts, proof, epsilon, delta):
    """ε(α) <= log E_Q[T^α]/(α−1) of each part; Σ count·ε(α) converts to (ε, δ)."""
    more = ["place"] if proof.get("conversion") == "optimal" else []
    _, order, name, bounds, *place = proof.read("method", "order", "conversion", "bounds", *more)
    need(len(bounds) == len(parts), "each part needs one bound")
    alpha, total, used = number(order, 1), Fraction(0), {CONVERSIONS[name]}
    for part, stated in zip(parts, bounds, strict=True):
        theorem, bound = stated.read("theorem", "epsilon")
        kinds, samples, formula, _ = THEOREMS[theorem]
        need(part.where in (samples.split() or [""]), f"{theorem} is not about such samples")
        need(all(x[1][0] in kinds for x in part.leaves), f"{theorem} is not about such mechanisms")
        value = log(formula(part, alpha)) / (alpha - 1)
        need(value <= number(bound, -1), f"ε(α) is {ball(value)}, by {theorem}")
        total += part.count * number(bound, -1)
        used |= {theorem, *(CURVES[kind] for _, kind, _ in part.leaves)}
    if sum(part.count * times for part in parts for times, *_ in part.leaves) > 1:
        used.add("MIR17-P1")
    holds = THEOREMS[CONVERSIONS[name]][2](total, alpha, epsilon, delta, *place)
    need(holds, f"ε(α) <= {ball(total)} is not enough")
    return used


def by_profile(parts, proof, epsilon, delta):
    """δ(ε) <= δ of all (P, Q), a record removed, and of all (Q, P), a record added."""
    ways = () if proof["method"] == "sum" else ("removed", "added")
    lines = [line.read("c", "step", "nodes") for line in proof.read("method", *ways)[1:]]
    lines = [(number(c), number(h), number(n, 0, MOST_NODES, True)) for c, h, n in lines]
    choices = [part.laws() for part in parts]
    need(all(x.where in ("", "Pa", "Sa", "Pz") for x in parts), "a profile of samples that replace")
    need(max(map(len, choices)) == 1 or sum(x.count for x in parts) == 1, "the worst laws may vary")
    for laws, way in product(product(*choices), (0, 1)):
        runs = [(part.count, part.rate, law) for part, law in zip(parts, laws, strict=True)]
        value = by_contour(runs, epsilon, way, *lines[way]) if lines else by_sum(runs, epsilon, way)
        need(value <= delta, f"what is shown of δ(ε) is at most {ball(value)}")
    return {"ZDW22"} | {"KOV15" for part in parts if part.leaves[0][1] == "PureDP"}


def check(document):
    """The claim in words and the theorems used, where it is proved."""
    if (document.get("format"), document.get("version")) != ("symacct certificate", "1"):
        raise ValueError("this is no certificate of symacct, or one of another version")
    _, _, text, tree, relation, epsilon, delta, theorems, proof = document.read(*KEYS.split())
    parts = [*tree.parts()]
    need(text == tree.text(), f"the text of the expression is not {tree.text()[:1000]}")
    relations = {x for x in RELATIONS for y in parts if y.where[1:] == RELATIONS[x]} or {"either"}
    need({relation} == relations, "the relation is another")
    judge = {"renyi": by_renyi, "contour": by_profile, "sum": by_profile}[proof["method"]]
    used = judge(parts, proof, number(epsilon, -1), number(delta, 0, 1))
    need(theorems == sorted(used), f"the theorems used are {', '.join(sorted(used))}")
    d = lambda x: Context(12, ROUND_CEILING).divide(*map(Decimal, Fraction(x).as_integer_ratio()))
    return f"{text} is ({d(epsilon)}, {d(delta)})-differentially private, relation {relation}", used


def main(path):
    """Print the verdict on a file; its exit status."""
    global BITS
    try:
        if path in ("", "-h", "--help"):
            raise ValueError("usage: python check.py FILE, written by symacct certificate")
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ValueError(f"the file has more than {MOST_BYTES} bytes")
        document = json.loads(content.decode(), object_pairs_hook=Node)
        for BITS in PRECISIONS:
            try:
                claim, used = check(document)
                break
            except ArithmeticError:
                if PRECISIONS[-1] == BITS:
                    raise
    except Exception as why:
        word, status = ("refuted", 1) if isinstance(why, Refuted) else ("cannot check", 2)
        said = f"{why} is not known here" if isinstance(why, KeyError) else str(why)
        print(f"{word}: {said[:300] or type(why).__name__}")
        return status
    trusted = (f"  {name}: {THEOREMS[name][3]}." for name in sorted(used))
    print(f"proved: {claim}.", "Taken on trust:", *trusted, sep="\n")
    return 0


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")  # where a terminal has no Greek letters
    sys.exit(main(sys.argv[1] if len(sys.argv) == 2 else ""))
