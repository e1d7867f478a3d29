"""Check a certificate of differential privacy:  python checker/check.py FILE

The first word printed is the verdict: proved (exit status 0), refuted (1) or cannot check (2). Of
what the document says nothing is believed: each number is an exact fraction, each bound is worked
out again in balls of whole numbers, and only what THEOREMS lists is taken on trust. The format and
the mathematics of each function stand in docs/certificates.md.
"""

import json
import math
import re
import sys
from fractions import Fraction
from itertools import product

MOST_BYTES, MOST_DIGITS, MOST_TERMS = 1_000_000, 400, 200
MOST_WORK = 2_000_000  # exponentials, of some 30 µs
PRECISIONS = (192, 384, 768)  # bits after the point: more where fewer do not decide
BITS, GUARD, WORK = PRECISIONS[0], 64, 0


class Refuted(Exception):
    """The document contradicts itself, or what it shows is not what it claims."""


class CannotCheck(Exception):
    """The document is of an unknown kind, or too large for this checker."""


class Undecided(CannotCheck):
    """The balls are too wide: more bits may tell."""


def need(holds, why):
    """Refuted where something does not hold."""
    if not holds:
        raise Refuted(why)


# 1. ARITHMETIC


class Ball:
    """All complex numbers within `rad` of re + i·im, in units of 2^-BITS; a real one has im = 0."""

    __slots__ = ("im", "rad", "re")

    def __init__(self, re, im=0, rad=0):
        self.re, self.im, self.rad = re, im, rad

    def __add__(self, other):
        other = ball(other)
        return Ball(self.re + other.re, self.im + other.im, self.rad + other.rad)

    def __neg__(self):
        return Ball(-self.re, -self.im, self.rad)

    def __sub__(self, other):
        return self + -ball(other)

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):  # cut by less than √2 units and one
        other = ball(other)
        re = self.re * other.re - self.im * other.im >> BITS
        im = self.re * other.im + self.im * other.re >> BITS
        wide = self.size() * other.rad + other.size() * self.rad + self.rad * other.rad
        return Ball(re, im, (wide >> BITS) + 3)

    def __truediv__(self, other):  # of reals: |x/y − a/b| <= (|a| r_y + b r_x)/(b(b − r_y))
        b, r = (other := ball(other)).re, other.rad
        if b <= r:
            raise Undecided("a divisor is not known to be positive")
        wide = (abs(self.re) * r + b * self.rad << BITS) // (b * (b - r))
        return Ball((self.re << BITS) // b, 0, wide + 2)

    def __rtruediv__(self, other):
        return ball(other) / self

    def __pow__(self, k):  # from the first binary digit of k > 0 on
        found = ball(1)
        for digit in bin(k)[2:]:
            found = found * found * (self if digit == "1" else 1)
        return found

    def size(self):
        """The modulus of the middle, rounded up."""
        return math.isqrt(self.re**2 + self.im**2) + 1 if self.im else abs(self.re)

    __radd__, __rmul__ = __add__, __mul__


def ball(x, im=0):
    """The ball of an exact number x + i·im."""
    if isinstance(x, Ball):
        return x
    (a, b), (c, d) = Fraction(x).as_integer_ratio(), Fraction(im).as_integer_ratio()
    return Ball((a << BITS) // b, (c << BITS) // d, 2)


def widened(x, by):
    """Everything within |by| of x."""
    return Ball(x.re, x.im, x.rad + abs(by.re) + by.rad)


def at_most(left, right):
    """left <= right, of real numbers?"""
    gap = ball(right) - left
    if -gap.rad <= gap.re < gap.rad:
        raise Undecided("two numbers are too close to each other to be told apart")
    return gap.re > 0


def largest(x, y):
    """max(x, y) of reals, which is off by no more than x or y is."""
    x, y = ball(x), ball(y)
    return Ball(max(x.re, y.re), 0, max(x.rad, y.rad))


def constants(known={}):  # noqa: B006  # remembered
    """log 2 = 2 atanh ⅓ and 2π = 32 atan ⅕ − 8 atan 1/239, cut by < 2^15 units of 2^-(BITS+64)."""

    def series(x, sign):  # Σ (±1)^i / ((2i+1) x^(2i+1)), each term cut by less than 2 units
        power, total, i = (1 << BITS + GUARD) // x, 0, 0
        while power:
            total += sign**i * (power // (2 * i + 1))
            power, i = power // x**2, i + 1
        return total

    if BITS not in known:
        known[BITS] = 2 * series(3, 1), 32 * series(5, -1) - 8 * series(239, -1)
    return known[BITS]


def pi():
    """π"""
    return Ball(constants()[1] >> GUARD + 1, 0, 2)


def exp(x):
    """e^x: x = k log 2 + 2πim + y, and e^y the 256th power of Taylor's series at y/256.

    With |k| < 2^20 and |m| < 2^30 what is cut and the constants' errors come to less than 2^-BITS
    of |e^x| < 2^(k+1), and the ball's own radius r <= 1 to |e^x|(e^r − 1) <= 2r|e^x|.
    """
    spend(1)
    x, w, (log2, full) = ball(x), BITS + GUARD, constants()
    (k, y), (m, angle) = divmod(x.re << GUARD, log2), divmod(x.im << GUARD, full)
    if k < -(1 << 20):
        return Ball(0, 0, 1)
    if x.rad >> BITS or k >= 1 << 20 or abs(m) >= 1 << 30:
        raise Undecided("a number is beyond e^700000")
    y, angle, i = y >> 8, angle >> 8, 0
    re, im, a, b = 1 << w, 0, 1 << w, 0
    while abs(a) + abs(b) > 2:
        i += 1
        a, b = (a * y - b * angle >> w) // i, (a * angle + b * y >> w) // i
        re, im = re + a, im + b
    for _ in range(8):
        re, im = re * re - im * im >> w, re * im >> w - 1
    wide, shift = 2 * x.rad + 1, k - GUARD
    if shift >= 0:
        return Ball(re << shift, im << shift, wide << k + 1)
    return Ball(re >> -shift, im >> -shift, (wide << k + 1 if k >= 0 else wide >> -k - 1) + 3)


def log(x):
    """log x = k log 2 − 2 atanh((1−m)/(1+m)) of a real x = m 2^k > 0, ½ <= m < 1; y <= ⅓."""
    x, w = ball(x), BITS + GUARD
    if x.re <= x.rad:
        raise Undecided("a number is not known to be positive")
    shift = w - x.re.bit_length()
    m = x.re << shift if shift >= 0 else x.re >> -shift
    y = ((1 << w) - m << w) // ((1 << w) + m)
    square, power, total, i = y * y >> w, y, 0, 1
    while power:
        total += power // i
        power, i = power * square >> w, i + 2
    value = (GUARD - shift) * constants()[0] - 2 * total
    return Ball(value >> GUARD, 0, (x.rad << BITS) // (x.re - x.rad) + 3)


def power(x, a):
    """x^a of reals, x > 0."""
    return exp(log(x) * a)


def steered(x):
    """A float that is only a choice, as a fraction of 20 bits."""
    return Fraction(round(x * 2**20), 2**20)


def spend(work):
    """A small document must not ask for hours."""
    global WORK
    WORK += work
    if WORK > MOST_WORK:
        raise CannotCheck(f"it takes more than {MOST_WORK} exponentials")


# 2. THE DOCUMENT: every key is known, none is missing, and a number is a fraction in lowest terms.

LEAVES = {  # the parameters, and what they are if the text does not say it
    "Gaussian": {"sigma": None, "sensitivity": "1"},
    "Laplace": {"b": None, "sensitivity": "1"},
    "RandomizedResponse": {"p": None},
    "PureDP": {"epsilon": None},
    "ZCDP": {"rho": None, "xi": "0"},
}
SAMPLES = {
    "PoissonSubsample": {"mechanism": None, "gamma": None, "adjacency": "add_remove"},
    "SubsampleWithoutReplacement": {"mechanism": None, "gamma": None, "adjacency": "replace_one"},
}
RELATIONS = {
    "add_remove": "one record added or removed",
    "replace_one": "one record replaced",
    "either": "one record added or removed, or one replaced",
}


def keys(tree, *needed):
    """An object with exactly these keys."""
    need(isinstance(tree, dict) and set(tree) == set(needed), f"not an object of {needed}")
    return tree


def listed(tree):
    """A list that is neither empty nor long."""
    need(isinstance(tree, list) and tree, "found something else where a list is needed")
    if len(tree) > MOST_TERMS:
        raise CannotCheck(f"a list has more than {MOST_TERMS} entries")
    return tree


def number(text, low=0, high=None, whole=False):
    """A fraction between two ends that it must not reach, written in the one way."""
    need(isinstance(text, str), "found something else where a number in quotes is needed")
    if len(text) > MOST_DIGITS:
        raise CannotCheck(f"a number has more than {MOST_DIGITS} characters")
    is_number = re.fullmatch("(0|[1-9][0-9]*)(/[1-9][0-9]*)?", text, re.ASCII)
    need(is_number and str(value := Fraction(text)) == text, f"{text!r} is no number p/q")
    need(low is None or value > low, f"{text} is not above {low}")
    need(high is None or value < high, f"{text} is not below {high}")
    need(not whole or value.denominator == 1, f"{text} is not whole")
    return value


def known(name, names, what):
    """A name that this checker knows."""
    need(isinstance(name, str), f"found something else where a {what} is named")
    if name not in names:
        raise CannotCheck(f"the {what} {name[:60]!r} is not known here")
    return name


def read(tree, inside=False):
    """The parts (count, inner, sample) of an expression, and its text.

    `inner` are the (count, kind, parameters) of what is sampled, or of what is run on all the data;
    `sample` is (scheme, rate, relation) or None.
    """
    terms, parts, texts = [["1", tree]], [], []
    if isinstance(tree, dict) and tree.get("type") == "Compose":
        terms = listed(keys(tree, "type", "terms")["terms"])
        need(all(len(listed(term)) == 2 for term in terms), "a term is no [count, mechanism]")
        need(len(terms) > 1 or terms[0][0] != "1", "one run of one mechanism is no composition")
    for text, one in terms:
        kind = one.get("type") if isinstance(one, dict) else None
        kind = known(kind, LEAVES if inside else LEAVES | SAMPLES, "mechanism")
        count, fields = int(number(text, whole=True)), (LEAVES | SAMPLES)[kind]
        keys(one, "type", *fields)
        if kind in SAMPLES:
            known(one["adjacency"], RELATIONS, "relation")
            below, shown = read(one["mechanism"], True)
            inner = [(times, *leaf) for times, [(_, *leaf)], _ in below]
            sample, arguments = (kind, number(one["gamma"], 0, 1), one["adjacency"]), [shown]
        else:
            highest = 1 if kind == "RandomizedResponse" else None
            values = [number(one[x], None if x == "xi" else 0, highest) for x in fields]
            inner, sample, arguments = [(1, kind, values)], None, []
        for name, default in fields.items():
            if name != "mechanism" and one[name] != default:
                value = one[name] if one[name].isdigit() else repr(one[name])
                arguments.append(value if default is None else f"{name}={value}")
        parts.append((count, inner, sample))
        texts.append((f"{kind}({', '.join(arguments)})", count))
    ordered = all(one[0] < other[0] for one, other in zip(texts, texts[1:], strict=False))
    need(ordered, "the parts are not in the order of their texts, each once")
    return parts, " + ".join(text if count == 1 else f"{count}*{text}" for text, count in texts)


# 3. RÉNYI DIVERGENCES: ε(α), or a bound of it, at one order α > 1


def trapezoid(f, d, edge, left, right):
    """∫f as h Σ f(jh) but for its ends, and where the sum ends (docs, section 3).

    f is analytic in |Im v| < d, and ∫|f| <= edge on either side: off by 2·edge/(e^{2πd/h} − 1).
    """
    h = steered(9 * float(d) / (0.7 * BITS + (edge.re + edge.rad >> BITS).bit_length()))
    first, last = math.floor(left / h), math.ceil(right / h)
    spend((last - first) // 8)
    total = h * sum((f(j * h) for j in range(first, last + 1)), ball(0))
    return widened(total, 2 * edge / (exp(2 * pi() * d / h) - 1)), first * h, last * h


def part_of(wave, of_sine=False):
    """The cosine, or sine, of a ball e^{ix}."""
    return Ball(wave.im if of_sine else wave.re, 0, wave.rad)


def tail(x):
    """At least P(Z > x) of a standard normal Z, x >= 0: ½e^{−x²/2}."""
    return exp(-(x * x) / 2) / 2


def sampled_gaussian(sigma, rate, a, t=0):
    """E_Q[R^{a+it}], t >= 0, Q = N(0, σ²), R = 1−γ+γe^w, w = (2x−1)/(2σ²) (docs, section 3).

    Where |Im x| = θσ², θ < π: |R^{a+it}| <= R^a cos(θ/2)^{min(a,0)} e^{tθ}, |Q| = e^{θ²σ²/2} Q; and
    E_Q[R^a] <= 1−γ+γe^{(a²−a)/2σ²} for a > 1, <= (1−γ)^{min(a,0)} else. Below x₀ < 0 R^a is at
    most (1−γ)^{min(a,0)}; beyond x₁ >= max(a, ½) at most (e^w c)^{max(a,0)}, c = γ+(1−γ)e^{−w₁}.
    """
    inverse, keep, low, high = 1 / (2 * sigma**2), ball(1 - rate), min(a, 0), max(a, 0)
    size, bulk = float(sigma), math.sqrt(BITS)
    theta = min(Fraction(3), steered(bulk / size))
    most = keep + rate * exp((a * a - a) * inverse) if a > 1 else power(keep, low)
    bent = exp(theta**2 * sigma**2 / 2 + t * theta) * power(part_of(exp(ball(0, theta / 2))), low)
    scale = sigma * power(2 * pi(), Fraction(1, 2))

    def f(x):
        return exp(ball(a, t) * log(keep + rate * exp((2 * x - 1) * inverse)) - x * x * inverse)

    left = -size * bulk * math.sqrt(1 + float(-low) * -math.log1p(-rate) * 2 / BITS)
    right = float(max(a, Fraction(1, 2))) + math.hypot(size * bulk, float(high))
    total, start, end = trapezoid(f, theta * sigma**2, scale * bent * most, left, right)
    c = rate + keep * exp((1 - 2 * end) * inverse)
    tilted = exp((high * high - high) * inverse + high * log(c)) * tail((end - high) / sigma)
    return widened(total * (1 / scale), tilted + tail(start / sigma) * power(keep, low))


def psi(alpha, t, y=0):
    """ψ(t) e^y = (t^α − 1)(1 − t^{1−α}) e^y, by one exponential for each of its four terms."""
    loss = log(t)
    return exp(alpha * loss + y) + exp((1 - alpha) * loss + y) - exp(loss + y) - exp(y)


def upper_half(s, rate, alpha):
    """∫ φ(x) ψ(1−γ+γe^{sx−s²/2}) dx over x > s/2 (docs, section 3), x = s/2 + log(1+e^v).

    Where |Im v| <= d, sd <= 3/2: |ψ| <= 2T^α + (1−γ)^{1−α} + 1 with T = 1−γ+γe^{s Re x − s²/2},
    |φ(x)dx| <= φ(Re x) d(Re x) e^{d²/2}/cos d, and φψdx/dv < ψe^v/2. Beyond x₁ >= αs ψ <= (cL)^α.
    """
    d = min(Fraction(5, 4), steered(1.5 / float(s)) - Fraction(1, 2**20))
    most = 2 * sampled_gaussian(1 / s, rate, alpha) + power(ball(1 - rate), 1 - alpha) + 1
    scale, up = power(2 * pi(), Fraction(1, 2)), float(alpha * s)

    def at(v):
        grown = exp(v)
        x = s / 2 + log(1 + grown)
        return x, 1 - rate + rate * exp(s * x - s * s / 2), grown / (1 + grown)

    def f(v):
        x, t, slope = at(v)
        return psi(alpha, t, -(x * x) / 2) * slope

    edge = scale * most * exp(d * d / 2) / part_of(exp(ball(0, d)))
    right = up + math.hypot(math.sqrt(BITS), up)
    total, start, end = trapezoid(f, d, edge, -0.3 * BITS, right)
    c = rate + (1 - rate) * exp(-s * s / 2 - s * end)  # x₁ = s/2 + end
    tilted = exp(alpha * (alpha - 1) * s * s / 2 + alpha * log(c)) * tail(s / 2 + end - alpha * s)
    return widened(total / scale, tilted + psi(alpha, at(start)[1]) * exp(start) / 2)


def laplace_middle(s, rate, low, g, most):
    """∫ ½e^{−x} g(1−γ+γe^{2x−s}) dx from `low` to s, x = low + (s−low)/(1+e^{−v}) (section 3).

    |Im v| < d, (s−low)tan(d/2) <= 3/2, is mapped to where |Im 2x| <= 3/2, low < Re x < s, and there
    |g| <= most; its sides are no longer than (s−low)π/2. Beyond |v| = V dx/dv <= (s−low)e^{−|v|}.
    """
    width = s - low
    d = min(Fraction(3, 2), steered(2 * math.atan(1.49 / float(width))))
    wave = exp(ball(0, d / 2))
    need(at_most(width * part_of(wave, True), Fraction(3, 2) * part_of(wave)), "a strip is too wide")

    def f(v):
        share = 1 / (1 + exp(-v))
        x = low + width * share
        return exp(-x) * g(1 - rate + rate * exp(2 * x - s)) * (share * (1 - share) * (width / 2))

    far = 0.5 * BITS + (most.re >> BITS).bit_length()
    total, _, end = trapezoid(f, d, most * pi() * width / 4, -far, far)
    return widened(total, width * most * exp(-end))


def laws(inner):
    """The probability of the first of two answers: p, or e/(1+e) for all ε-DP mechanisms."""
    _, kind, (x,) = inner[0]
    return ball(x) if kind == "RandomizedResponse" else 1 / (1 + exp(-x))


def of_leaf(kind, values, alpha):
    """The curve of what is not sampled; s = Δ/b."""
    if kind == "Gaussian":
        return ball(alpha * (values[1] / values[0]) ** 2 / 2)
    if kind == "ZCDP":
        return ball(values[1] + values[0] * alpha)
    if kind == "Laplace":  # (α e^{(α−1)s} + (α−1) e^{−αs})/(2α−1)
        s = values[1] / values[0]
        moment = (alpha * exp((alpha - 1) * s) + (alpha - 1) * exp(-alpha * s)) / (2 * alpha - 1)
    else:  # p^α (1−p)^{1−α} + (1−p)^α p^{1−α}
        p = laws([(1, kind, values)])
        odds = p / (1 - p)
        moment = power(odds, alpha) * (1 - p) + power(1 / odds, alpha) * p
    return log(moment) / (alpha - 1)


def pair(inner, rate, alpha):
    """E_Q[(1−γ+γL)^α], L = dP/dQ of the pair (P, Q) that dominates."""
    _, kind, values = inner[0]
    if kind == "Gaussian":
        return sampled_gaussian(values[0] / values[1], rate, alpha)
    if kind == "Laplace":  # two atoms of the loss, and what lies between them
        s = values[1] / values[0]
        least, most = (power(1 - rate + rate * exp(x), alpha) for x in (-s, s))
        middle = laplace_middle(s, rate, Fraction(0), lambda t: power(t, alpha), most)
        return least / 2 + exp(-s) * most / 2 + middle
    p = laws(inner)
    up, down = 1 - rate + rate * p / (1 - p), 1 - rate + rate * (1 - p) / p
    return (1 - p) * power(up, alpha) + p * power(down, alpha)


def binomial(inner, rate, alpha):
    """Σ_l C(α,l)(1−γ)^{α−l}γ^l e^{(l−1)ε(l)} at a whole α >= 2, with e^0 for l < 2."""
    need(alpha.denominator == 1 and alpha > 1, "the theorem holds at whole orders from 2 on")
    spend(int(alpha))
    yes, no, total, ways = log(rate), log(1 - rate), ball(0), 1
    for l in range(int(alpha) + 1):
        grown = sum((n * of_leaf(*leaf, Fraction(l)) for n, *leaf in inner), ball(0)) if l > 1 else 0
        total = total + exp(log(ways) + (alpha - l) * no + l * yes + (l - 1) * grown)
        ways = ways * (int(alpha) - l) // (l + 1)
    return total


def extremes(inner, rate):
    """e = e^{ε(∞)}, u = 1−γ+γe and v = 1−γ+γ/e."""
    _, kind, values = inner[0]
    p = 0 if kind == "Laplace" else laws(inner)
    e = exp(values[1] / values[0]) if kind == "Laplace" else largest(p / (1 - p), (1 - p) / p)
    return e, 1 - rate + rate * e, 1 - rate + rate / e


def triple_pure(inner, rate, alpha):
    """max{(u^α + e v^α)/(e+1), (u^α + u^{1−α} + e(1−γ) + γ)/(e+2)}"""
    e, u, v = extremes(inner, rate)
    three = power(u, alpha) + power(u, 1 - alpha) + e * (1 - rate) + rate
    return largest((power(u, alpha) + e * power(v, alpha)) / (e + 1), three / (e + 2))


def triple_pure_poisson(inner, rate, alpha):
    """(u^α v^{1−α} + v^α u^{1−α} + (e−1)v)/(e+1)"""
    e, u, v = extremes(inner, rate)
    return (power(u / v, alpha) * v + power(v / u, alpha) * u + (e - 1) * v) / (e + 1)


def triple_dominated(inner, rate, alpha):
    """1 + E_Q[ψ(1−γ+γL); L > 1]"""
    _, kind, values = inner[0]
    if kind == "Gaussian":
        return 1 + upper_half(values[1] / values[0], rate, alpha)
    e, u, _ = extremes(inner, rate)
    if kind != "Laplace":
        return 1 + psi(alpha, u) / (e + 1)
    most = 2 * power(u, alpha) + power(ball(1 - rate), 1 - alpha) + 1  # |1−γ+γL| >= 1−γ
    s = values[1] / values[0]
    middle = laplace_middle(s, rate, s / 2, lambda t: psi(alpha, t), most)
    return 1 + middle + psi(alpha, u) / (2 * e)


# 4. CONVERSIONS: does ε(α) <= ρ imply (ε, δ)?


def converts(name, rho, alpha, epsilon, delta):
    """classic: ρ + log(1/δ)/(α−1) <= ε; improved: log α/(α−1) less, and log((α−1)/α) more."""
    if name == "optimal":
        return optimal(rho, alpha, epsilon, delta)
    least = rho - log(delta) / (alpha - 1)
    if name == "improved":
        least = least + log(1 - 1 / alpha) - log(alpha) / (alpha - 1)
    return at_most(least, epsilon)


def optimal(rho, alpha, epsilon, delta):
    """H(v) = p^α q^{1−α} + (1−p)^α (1−q)^{1−α} >= e^{(α−1)ρ} at 0 < v < 1−δ, p = v+δ, q = ve^{−ε}.

    H is convex: the sign of H′ leads to about where it is least, and from there on either side
    H >= H(v) − |H′(v)| · (how far that side goes).
    """
    lean, budget, left, right = exp(-epsilon), exp((alpha - 1) * rho), Fraction(0), 1 - delta
    for _ in range(BITS):
        v = Fraction(math.floor((left + right) * 2 ** (BITS - 1)), 2**BITS)
        if not left < v:
            break
        p, q = ball(v + delta), v * lean
        up, down = p / q, (1 - p) / (1 - q)
        high, low = power(up, alpha - 1), power(down, alpha - 1)
        value = p * high + (1 - p) * low
        slope = alpha * (high - low) + (alpha - 1) * lean * (low * down - high * up)
        if value.re + value.rad < budget.re - budget.rad:
            return False
        left, right = (v, right) if slope.re < 0 else (left, v)
    falls = largest(-slope, 0) * (1 - delta - v) + largest(slope, 0) * v
    return at_most(budget, value - falls)


# 5. THE PROFILE δ(ε) of (P, Q), P with the record and Q without it, or of (Q, P): one added


def two_laws(inner, sample):
    """The first of two answers under P and under Q."""
    p, rate = laws(inner), sample[1] if sample else 1
    return (1 - rate) * (1 - p) + rate * p, 1 - p


def by_sum(parts, y, added):
    """Σ (P(x) − e^y Q(x))⁺ over the counts x of first answers: each C(k,j) p^j (1−p)^{k−j}."""
    spend(4 * math.prod(count + 1 for count, _, _ in parts))
    tables, total = [], ball(0)
    for count, inner, sample in parts:
        p, q = two_laws(inner, sample)
        logs = [(log(x), log(1 - x)) for x in ((q, p) if added else (p, q))]
        ways, table = 1, []
        for j in range(count + 1):
            table.append([exp(log(ways) + j * yes + (count - j) * no) for yes, no in logs])
            ways = ways * (count - j) // (j + 1)
        tables.append(table)
    for chosen in product(*tables):
        there, here = ball(1), exp(y)
        for p, q in chosen:
            there, here = there * p, here * q
        total = total + largest(there - here, 0)
    return total


def decay(sigma, rate, a, t):
    """At least |E_Q[R^{a+iτ}]| for all τ >= t: e^{σ²θ²/2}(m₀ − T m₁ + T²m₂/2), 0 < θ < π (section 5).

    m_j = E_Q[R^a (1 − (1−γ)/R)^j] and T = t sin θ − 2 max(−a, 0) tan²(θ/2) >= 0.
    """
    f0, f1, f2 = (sampled_gaussian(sigma, rate, a - i) for i in range(3))
    m1, m2 = f0 - (1 - rate) * f1, f0 - 2 * (1 - rate) * f1 + (1 - rate) ** 2 * f2
    p1, p2 = m1.re / f0.re, m2.re / f0.re
    theta = min(Fraction(3), steered(float(t) * p1 / (float(sigma) ** 2 + float(t) ** 2 * p2)))
    wave = exp(ball(0, theta))
    bent = 2 * max(-a, 0) * (1 - part_of(wave)) / (1 + part_of(wave))
    moved = t * part_of(wave, True) - bent
    if theta <= 0 or not at_most(0, moved):
        return f0
    return exp(sigma**2 * theta**2 / 2) * (f0 - moved * m1 + moved * moved * m2 / 2)


def moments(inner, sample, a, lines):
    """F(a+it) = E_Q[(P/Q)^{a+it}] at each t but the last, and a bound of |F| from the last on."""
    _, kind, values = inner[0]
    if kind != "Gaussian":
        p, q = two_laws(inner, sample)
        pairs = (q, log(p / q)), (1 - q, log((1 - p) / (1 - q)))
        found = [sum((x * exp(ball(a, t) * loss) for x, loss in pairs), ball(0)) for t in lines]
        return found[:-1], found[0]
    sigma = values[0] / values[1]
    if sample:
        found = [sampled_gaussian(sigma, sample[1], a, t) for t in lines[:-1]]
        return found, decay(sigma, sample[1], a, lines[-1])
    found = [exp(ball(a * a - a - t * t, t * (2 * a - 1)) * (1 / (2 * sigma**2))) for t in lines]
    return found[:-1], Ball(found[-1].size(), 0, found[-1].rad)


def by_contour(parts, y, added, c, step, count):
    """δ(y) <= (h/2π) Σ_n M(c+inh)e^{−(c+inh)y}/((c+inh)(c+1+inh)), over all whole n (section 5).

    The nodes |n| > N come to at most e^{−cy} B/(πhN), |M| <= B there. M(s) = F(1+s), and of the pair
    exchanged F(−s), the conjugate of F(−c+inh).
    """
    lines, rest = [n * step for n in range(count + 2)], -c * y
    products, value = [ball(1)] * (count + 1), ball(0)
    for k, inner, sample in parts:
        found, bound = moments(inner, sample, -c if added else 1 + c, lines)
        products = [x * y**k for x, y in zip(products, found, strict=True)]
        rest = rest + k * log(bound)
    for t, m in zip(lines, products, strict=False):
        size = (c * c + t * t) * ((c + 1) ** 2 + t * t)
        kernel = ball((c * (c + 1) - t * t) / size, -t * (2 * c + 1) / size)
        m = Ball(m.re, -m.im if added else m.im, m.rad)
        value = value + part_of(m * kernel * exp(ball(-c * y, -t * y))) * (2 if t else 1)
    return value * step / (2 * pi()) + exp(rest) / (pi() * step * count)


# 6. THE VERDICT

ANSWERS, POISSON = "RandomizedResponse PureDP", "PoissonSubsample replace_one"
FIXED, ADDED = "SubsampleWithoutReplacement replace_one", "add_remove"
#: E_Q[r^α] or a bound of it by each theorem, for which mechanisms, under which samples.
SAMPLED = {
    "MTZ19-EXACT": (pair, "Gaussian", ADDED),
    "PAIR-EXACT": (pair, f"Laplace {ANSWERS}", ADDED),
    "S22-POISSON": (binomial, " ".join(LEAVES), ADDED),
    "TRIPLE-DOMINATED": (triple_dominated, f"Gaussian Laplace {ANSWERS}", FIXED),
    "TRIPLE-FINITE": (pair, "RandomizedResponse", f"{FIXED} {POISSON}"),
    "TRIPLE-LINE": (pair, "Laplace", FIXED),
    "TRIPLE-PURE": (triple_pure, "PureDP", FIXED),
    "TRIPLE-PURE-POISSON": (triple_pure_poisson, "PureDP", POISSON),
    "TRIPLE-PURE-UPPER": (triple_pure, "Laplace RandomizedResponse", FIXED),
    "ZW19-T8": (binomial, f"Gaussian Laplace {ANSWERS}", ADDED),
}
CURVES = dict.fromkeys(("Gaussian", "Laplace", "RandomizedResponse"), "MIR17-T2")
CURVES |= {"PureDP": "KOV15", "ZCDP": "BS16-D1.1"}
CONVERSIONS = {"classic": "MIR17-P3", "improved": "CKS20-P12", "optimal": "ALCKS21"}
OWN = "(symacct, docs/proofs.md, section 14"
THEOREMS = {
    "ALCKS21": "only two answers need be looked at (Asoodeh et al. 2021, the optimal conversion)",
    "BS16-D1.1": "ε(α) <= ξ + ρα is what zCDP means (Bun, Steinke 2016, Definition 1.1)",
    "CKS20-P12": "the improved conversion (Canonne, Kamath, Steinke 2020, Proposition 12)",
    "KOV15": "randomized response is the worst ε-DP mechanism (Kairouz, Oh, Viswanath 2015)",
    "MIR17-P1": "curves of mechanisms run adaptively add up (Mironov 2017, Proposition 1)",
    "MIR17-P3": "the classic conversion (Mironov 2017, Proposition 3)",
    "MIR17-T2": "the curve of the noise or of the answers (Mironov 2017, Table II)",
    "MTZ19-EXACT": "the worst pair of a sampled Gaussian (Mironov, Talwar, Zhang 2019, Theorem 5)",
    "PAIR-EXACT": "the worst pair where a symmetry swaps the two laws (the same, Theorem 5)",
    "S22-POISSON": "the sum over whole orders (Steinke 2022; symacct, docs/theorems.md)",
    "TRIPLE-DOMINATED": f"samples of fixed size from one dominating pair {OWN}, Theorem U)",
    "TRIPLE-FINITE": f"the worst triple of two laws {OWN}, Theorem 1)",
    "TRIPLE-LINE": f"the worst triple of noise on the line {OWN}, Theorem L)",
    "TRIPLE-PURE": f"the worst triple of an ε-DP mechanism, fixed size {OWN}, Theorem 2)",
    "TRIPLE-PURE-POISSON": f"the worst triple of an ε-DP mechanism, Poisson {OWN}, Theorem 3)",
    "TRIPLE-PURE-UPPER": f"the worst triple of an ε-DP mechanism, fixed size {OWN}, Theorem 2)",
    "ZDW22": "pairs that dominate compose and can be sampled, all parts the same way round (Zhu, "
    "Dong, Wang 2022; symacct, docs/proofs.md, section 16)",
    "ZW19-T8": "the sum over whole orders, for swapped laws (Zhu, Wang 2019, Theorem 8)",
}


def bound_of(part, name, alpha):
    """The part's ε(α) by the theorem of this name, which has to be one about it."""
    _, inner, sample = part
    known(name, THEOREMS, "theorem")
    if sample is None:
        need(name == CURVES[inner[0][1]], f"{name} is not about {inner[0][1]}")
        return of_leaf(*inner[0][1:], alpha)
    (scheme, rate, relation), kinds = sample, {kind for _, kind, _ in inner}
    formula, about, samples = SAMPLED.get(name, (None, "", ""))
    is_one = len(inner) == 1 and inner[0][0] == 1
    need(kinds <= set(about.split()), f"{name} is not about samples of {sorted(kinds)}")
    need(is_one or formula is binomial, f"{name} is not about several mechanisms on one sample")
    is_there = relation == samples if samples == ADDED else f"{scheme} {relation}" in samples
    need(is_there, f"{name} is not about {scheme} under {relation}")
    return log(formula(inner, rate, alpha)) / (alpha - 1)


def by_renyi(parts, proof, epsilon, delta):
    """The theorems used, if each stated bound holds and all of them together imply the claim."""
    keys(proof, "method", "order", "conversion", "bounds")
    alpha, total, used = number(proof["order"], 1), Fraction(0), set()
    need(len(listed(proof["bounds"])) == len(parts), "there are not as many bounds as parts")
    for part, stated in zip(parts, proof["bounds"], strict=True):
        name, bound = (keys(stated, "theorem", "epsilon")[x] for x in ("theorem", "epsilon"))
        value = bound_of(part, name, alpha)
        need(at_most(value, number(bound)), f"ε(α) <= {bound} by {name}: it is {shown(value)}")
        total += part[0] * number(bound)
        used |= {name, *(CURVES[kind] for _, kind, _ in part[1])}
        used |= {"MIR17-P1"} if sum(n for n, _, _ in part[1]) > 1 else set()
    name = known(proof["conversion"], CONVERSIONS, "conversion")
    implied = converts(name, total, alpha, epsilon, delta)
    need(implied, f"ε(α) <= {shown(total)} does not imply it by the {name} conversion")
    used |= {"MIR17-P1"} if sum(count for count, _, _ in parts) > 1 else set()
    return used | {CONVERSIONS[name]}


def by_profile(parts, proof, epsilon, delta):
    """The theorems used, if δ(ε) is at most δ in both directions."""
    used = {"ZDW22"}
    for _, inner, sample in parts:
        is_known = len(inner) == 1 and inner[0][0] == 1 and inner[0][1] not in ("Laplace", "ZCDP")
        if not is_known or (sample and sample[::2] != ("PoissonSubsample", "add_remove")):
            raise CannotCheck("the profile of one of the parts is not known here")
        used |= {"KOV15"} if inner[0][1] == "PureDP" else set()
    if proof["method"] == "sum":
        keys(proof, "method")
        need(all(part[1][0][1] != "Gaussian" for part in parts), "noise has no sum over answers")
        values = [by_sum(parts, epsilon, added) for added in (False, True)]
    else:
        lines = keys(proof, "method", "removed", "added")
        lines = [keys(lines[x], "c", "step", "nodes") for x in ("removed", "added")]
        lines = [(number(x["c"]), number(x["step"]), number(x["nodes"], whole=True)) for x in lines]
        ways = [(*line, added) for line, added in zip(lines, (False, True), strict=True)]
        values = [by_contour(parts, epsilon, way, c, h, int(n)) for c, h, n, way in ways]
    for value in values:
        need(at_most(value, delta), f"δ(ε) <= {shown(delta)}: what is shown is {shown(value)}")
    return used


METHODS = {"renyi": by_renyi, "contour": by_profile, "sum": by_profile}


def shown(x):
    """About what a number is."""
    return f"{(ball(x).re + ball(x).rad) / (1 << BITS):.12g}"


def check(document):
    """The claim in words and the theorems used; an exception where it is not proved."""
    needed = "format version expression mechanism relation epsilon delta theorems proof"
    keys(document, *needed.split())
    parts, text = read(document["mechanism"])
    need(document["expression"] == text, f"the text of the expression is not {text}")
    relations = {sample[2] for _, _, sample in parts if sample} or {"either"}
    need({known(document["relation"], RELATIONS, "relation")} == relations, "another relation")
    epsilon, delta = number(document["epsilon"], None), number(document["delta"], 0, 1)
    method = document["proof"].get("method") if isinstance(document["proof"], dict) else None
    used = METHODS[known(method, METHODS, "method")](parts, document["proof"], epsilon, delta)
    need(document["theorems"] == sorted(used), f"the theorems used are {sorted(used)}")
    words = f"{text} is (ε, δ)-differentially private for ε = {epsilon} and δ = {delta}, neighbours"
    return f"{words} being datasets that differ in {RELATIONS[document['relation']]}", used


def parsed(content):
    """The document, of which no key stands twice and no number without quotes."""
    if len(content) > MOST_BYTES:
        raise CannotCheck(f"the file has more than {MOST_BYTES} bytes")

    def no_repeats(pairs):
        need(len(dict(pairs)) == len(pairs), "a key is there twice")
        return dict(pairs)

    def no_number(text):
        need(False, f"{text[:60]} stands without quotes")

    unread = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), no_number)
    document = json.loads(content.decode(), object_pairs_hook=no_repeats, **unread)
    found = document if isinstance(document, dict) else {}
    if (found.get("format"), found.get("version")) != ("symacct certificate", "1"):
        raise CannotCheck("this is no certificate of symacct, or one of another version")
    return document


def main(path):
    """Print the verdict on a file; its exit status."""
    global BITS
    try:
        with open(path, "rb") as file:
            document = parsed(file.read(MOST_BYTES + 1))
        for BITS in PRECISIONS:
            try:
                claim, used = check(document)
                break
            except Undecided:
                if BITS == PRECISIONS[-1]:
                    raise
    except Refuted as why:
        print(f"refuted: {why}")
        return 1
    except (CannotCheck, OSError, ValueError, ArithmeticError, RecursionError, MemoryError) as why:
        print(f"cannot check: {str(why)[:300] or type(why).__name__}")
        return 2
    print(f"proved: {claim}.", "Taken on trust:", sep="\n")
    for name in sorted(used):
        print(f"  {name}: {THEOREMS[name]}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else "usage: python check.py FILE")
