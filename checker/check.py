"""Check a certificate of differential privacy:  python checker/check.py FILE

The first word printed is the verdict: proved (exit status 0), refuted (1) or cannot check (2). Of
what it says nothing is believed: each number is an exact fraction, each bound is worked out again,
and only THEOREMS is taken on trust. docs/certificates.md has the format and the mathematics.
"""

# fmt: off
import json, math, operator, re, sys  # noqa: E401, I001
from fractions import Fraction
from itertools import accumulate, combinations, pairwise, permutations, product
MOST_BYTES, MOST_DIGITS, MOST_WORK = 1_000_000, 400, 2_000_000  # of exponentials, some 30 µs each
PRECISIONS = (192, 384, 768)  # bits after the point: more where fewer do not decide
BITS, GUARD, LONGEST, WORK = PRECISIONS[0], 64, 1 << 20, 0  # the LONGEST number has so many bits
class Refuted(Exception): ...  # the document contradicts itself, or does not show what it claims
class CannotCheck(Exception): ...  # it is of an unknown kind, or too large for this checker
class Undecided(CannotCheck): ...  # the balls are too wide: more bits may tell
def need(holds, why):  # refuted where something does not hold
    if not holds:
        raise Refuted(why)

# 1. ARITHMETIC
class Ball:
    """All complex numbers within `rad` of re + i·im, in units of 2^-BITS; a real one has im = 0."""
    def __init__(self, re, im=0, rad=0): self.re, self.im, self.rad = re, im, rad
    def __add__(self, other):
        other = ball(other)
        return Ball(self.re + other.re, self.im + other.im, self.rad + other.rad)
    def __neg__(self): return Ball(-self.re, -self.im, self.rad)
    def __sub__(self, other): return self + -ball(other)
    def __rsub__(self, other): return -self + other
    def __mul__(self, other):  # |xy − ab| <= |a| r_y + |b| r_x + r_x r_y; cut by less than 3 units
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
    def __rtruediv__(self, other): return ball(other) / self
    def __pow__(self, k):  # from the first binary digit of k > 0 on
        found = ball(1)
        for digit in bin(k)[2:]:
            found = found * found * (self if digit == "1" else 1)
            if found.size() + found.rad >> LONGEST:
                raise CannotCheck("a number is beyond 2^1000000")
        return found
    def size(self): return math.isqrt(self.re**2 + self.im**2) + 1 if self.im else abs(self.re)
    __radd__, __rmul__ = __add__, __mul__
def ball(x, im=0):  # the ball of an exact number x + i·im
    if isinstance(x, Ball):
        return x
    (a, b), (c, d) = Fraction(x).as_integer_ratio(), Fraction(im).as_integer_ratio()
    return Ball((a << BITS) // b, (c << BITS) // d, 2)
def widened(x, by): return Ball(x.re, x.im, x.rad + abs(by.re) + by.rad)
def upper(x): return Ball(x.re + x.rad)  # the largest real number in a ball
def at_most(left, right):  # left <= right, of real numbers?
    gap = ball(right) - left
    if -gap.rad <= gap.re < gap.rad:
        raise Undecided("two numbers are too close to each other to be told apart")
    return gap.re > 0
def largest(x, y):  # max(x, y) of reals, which is off by no more than x or y is
    x, y = ball(x), ball(y)
    return Ball(max(x.re, y.re), 0, max(x.rad, y.rad))

# log 2 = 2 atanh ⅓ and 2π = 32 atan ⅕ − 8 atan 1/239, cut by less than 2^15 units of 2^-(BITS+64).
def constants(known={}):  # noqa: B006  # remembered
    def series(x, sign):  # Σ (±1)^i / ((2i+1) x^(2i+1)), each term cut by less than 2 units
        power, total, i = (1 << BITS + GUARD) // x, 0, 0
        while power:
            total += sign**i * (power // (2 * i + 1))
            power, i = power // x**2, i + 1
        return total
    if BITS not in known:
        known[BITS] = 2 * series(3, 1), 32 * series(5, -1) - 8 * series(239, -1)
    return known[BITS]
def exp(x):  # e^x: x = k log 2 + 2πim + y, and e^y the 256th power of Taylor's series at y/256
    spend(1)
    x, w, (log2, full) = ball(x), BITS + GUARD, constants()
    (k, y), (m, angle) = divmod(x.re << GUARD, log2), divmod(x.im << GUARD, full)
    if x.rad >> BITS or k >= LONGEST or abs(m) >= 1 << 30:
        raise Undecided("a number is beyond 2^1000000")
    if k < -LONGEST:
        return Ball(0, 0, 1)
    y, angle, i, re, im, a, b = y >> 8, angle >> 8, 0, 1 << w, 0, 1 << w, 0
    while abs(a) + abs(b) > 2:
        i += 1
        a, b = (a * y - b * angle >> w) // i, (a * angle + b * y >> w) // i
        re, im = re + a, im + b
    for _ in range(8):
        re, im = re * re - im * im >> w, re * im >> w - 1
    wide, shift = 2 * x.rad + 1, k - GUARD  # |e^x| < 2^(k+1), and e^r − 1 <= 2r for r <= 1
    if shift >= 0:
        return Ball(re << shift, im << shift, wide << k + 1)
    return Ball(re >> -shift, im >> -shift, (wide << k + 1 if k >= 0 else wide >> -k - 1) + 3)
def log(x):  # log x = k log 2 − 2 atanh((1−m)/(1+m)) of a real x = m 2^k > 0, ½ <= m < 1; y <= ⅓
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
def pi(): return Ball(constants()[1] >> GUARD + 1, 0, 2)
def power(x, a): return exp(log(x) * a)  # x^a of reals, x > 0
def tail(x): return exp(-(x * x) / 2) / 2  # P(|Z| > |x|) is at most twice this, Z standard normal
def cosine(wave): return Ball(wave.re, 0, wave.rad)  # of a ball e^{ix}, or any real part
def sine(wave): return Ball(wave.im, 0, wave.rad)
def steered(x): return Fraction(math.floor(x * 2**20), 2**20)  # a choice, never above x
def spend(work):  # a small document must not ask for hours
    global WORK
    if (WORK := WORK + work) > MOST_WORK:
        raise CannotCheck(f"it takes more than {MOST_WORK} exponentials")

# 2. THE DOCUMENT: every key is known, none is missing, and a number is a fraction in lowest terms
SAMPLES = ("PoissonSubsample", "SubsampleWithoutReplacement")
PARAMETERS = {
    "Gaussian": ("sigma", "sensitivity"), "Laplace": ("b", "sensitivity"), "ZCDP": ("rho", "xi"),
    "RandomizedResponse": ("p",), "PureDP": ("epsilon",),
    "FiniteMechanism": ("laws",), "DistributionPair": ("P", "Q")}
RELATIONS = {
    "add_remove": "one record added or removed", "replace_one": "one record replaced",
    "either": "one record added or removed, or one replaced"}
def keys(tree, *needed):  # the values of an object with exactly these keys
    need(isinstance(tree, dict) and set(tree) == set(needed), f"not an object of {needed}")
    return [tree[name] for name in needed]
def number(text, least=0, most=math.inf):  # a fraction written in the one way, between two ends
    if isinstance(text, str) and len(text) > MOST_DIGITS:
        raise CannotCheck(f"a number has more than {MOST_DIGITS} characters")
    is_number = isinstance(text, str) and re.fullmatch("[0-9]+(/0*[1-9][0-9]*)?", text)
    need(is_number and str(value := Fraction(text)) == text, "a number is no text p/q")
    need(least < value < most, f"{text} is not between {least} and {most}")
    return value
def whole(text):  # a whole number above 0
    need(number(text).denominator == 1, f"{text} is not whole")
    return int(text)
def known(name, names, what):  # a name that this checker knows
    need(isinstance(name, str), f"found something else where a {what} is named")
    if name not in names:
        raise CannotCheck(f"the {what} {name[:60]!r} is not known here")
    return name
def read_leaf(kind, names, given):  # the parameters of a mechanism, or its laws
    if names[0] not in ("laws", "P"):
        most = 1 if kind == "RandomizedResponse" else math.inf
        return [number(x, -(name == "xi"), most) for name, x in zip(names, given, strict=True)]
    laws = given[0] if names[0] == "laws" else given
    is_table = isinstance(laws, list) and all(isinstance(law, list) for law in laws)
    need(is_table and len(laws) > 1 == len({*map(len, laws)}), "no laws of the same outcomes")
    need(all(sum(number(x, -1) for x in law) == 1 for law in laws), "a law does not sum to 1")
    return [[Fraction(x) for x in law] for law in laws]
def read(tree, inside=False):  # the parts (count, inner, sample) of an expression, and its text
    terms, parts, texts = [["1", tree]], [], []
    if isinstance(tree, dict) and tree.get("type") == "Compose":
        _, terms = keys(tree, "type", "terms")
        need(isinstance(terms, list) and terms, "a composition has no terms")
    for term in terms:
        need(isinstance(term, list) and len(term) == 2, "a term is no [count, mechanism]")
        count, node = whole(term[0]), term[1]
        kind = node.get("type") if isinstance(node, dict) else None
        if known(kind, (*PARAMETERS, *(() if inside else SAMPLES)), "mechanism") in SAMPLES:
            _, below, rate, relation = keys(node, "type", "mechanism", "gamma", "adjacency")
            below, text = read(below, True)
            inner = [(times, *leaf) for times, [(_, *leaf)], _ in below]
            known(relation, ("add_remove", "replace_one"), "sample's relation")
            sample = kind, number(rate, 0, 1), relation
            text = f"{kind}(mechanism={text}, gamma='{rate}', adjacency='{relation}')"
        else:
            names = PARAMETERS[kind]
            named = [*zip(names, given := keys(node, "type", *names)[1:], strict=True)]
            sample, inner = None, [(1, kind, read_leaf(kind, names, given))]
            text = f"{kind}({', '.join(f'{name}={x!r}' for name, x in named)})"
        parts.append((count, inner, sample))
        texts.append((text, count))
    need(all(one[0] < other[0] for one, other in pairwise(texts)), "parts are not in order")
    need(terms[0][1] is tree or parts[1:] or count > 1, "one run alone is no composition")
    return parts, " + ".join(text if count == 1 else f"{count}*{text}" for text, count in texts)

# 3. RÉNYI DIVERGENCES at one order α > 1: E_Q[(P/Q)^α], or a bound of it
# ∫f as h Σ f(jh), and where the sum ends: off by 2·edge/(e^{2πd/h} − 1) and what is left out.
def trapezoid(f, d, edge, left, right):  # f is analytic in |Im v| < d, ∫|f| <= edge on its sides
    h = steered(9 * float(d) / (0.7 * BITS + (edge.re + edge.rad >> BITS).bit_length()))
    first, last = math.floor(left / h), math.ceil(right / h)
    spend(last - first >> 3)
    total = h * sum((f(j * h) for j in range(first, last + 1)), ball(0))
    return widened(total, 2 * edge / (exp(2 * pi() * d / h) - 1)), first * h, last * h

# Where |Im x| = θσ², θ < π: |R^{a+it}| <= R^a cos(θ/2)^{min(a,0)} e^{tθ}, |Q| = e^{θ²σ²/2} Q; and
# E_Q[R^a] <= 1−γ+γe^{(a²−a)/2σ²} for a > 1, else <= (1−γ)^{min(a,0)}.
def sampled_gaussian(sigma, rate, a, t=0):  # E_Q[R^{a+it}], R = 1−γ+γe^w, w = (2x−1)/(2σ²)
    inverse, keep, low, high = 1 / (2 * sigma**2), ball(1 - rate), min(a, 0), max(a, 0)
    size, theta = float(sigma) * math.sqrt(BITS), min(Fraction(3), steered(BITS**0.5 / sigma))
    most = keep + rate * exp((a * a - a) * inverse) if a > 1 else power(keep, low)
    bent = exp(theta**2 * sigma**2 / 2 + t * theta) * power(cosine(exp(ball(0, theta / 2))), low)
    scale = sigma * power(2 * pi(), Fraction(1, 2))
    def f(x):
        return exp(ball(a, t) * log(keep + rate * exp((2 * x - 1) * inverse)) - x * x * inverse)
    left = -size * math.sqrt(1 + 2 / BITS * low * math.log1p(-rate))
    right = max(a, 0.5) + math.hypot(size, high)
    total, start, end = trapezoid(f, theta * sigma**2, scale * bent * most, left, right)
    tilt = (high * high - high) * inverse + high * log(rate + keep * exp((1 - 2 * end) * inverse))
    left_out = tail(start / sigma) * power(keep, low) + exp(tilt) * tail((end - high) / sigma)
    return widened(total * (1 / scale), left_out)
def psi(alpha, t, y=0):  # ψ(t) e^y = (t^α − 1)(1 − t^{1−α}) e^y
    x = log(t)
    return exp(alpha * x + y) + exp((1 - alpha) * x + y) - exp(x + y) - exp(y)

# |Im v| < d becomes a lens on [low, high], half as high as (high−low)tan(d/2), where |f| <= most.
def between(f, low, high, height, most):  # ∫f, by x = low + (high−low)/(1+e^{−v})
    width, far = high - low, 0.5 * BITS + (most.re >> BITS).bit_length()
    d = min(Fraction(3, 2), steered(1.98 * math.atan(2 * height / width)))
    wave = exp(ball(0, d / 2))
    need(at_most(width * sine(wave), 2 * height * cosine(wave)), "too high a lens")
    def slope(v):
        share = 1 / (1 + exp(-v))
        return f(low + width * share) * share * (1 - share)
    total, _, end = trapezoid(slope, d, most * pi() / 2, -far, far)
    return width * widened(total, 2 * most * exp(-end))

# |ψ| <= 2T^α + (1−γ)^{1−α} + 1, |φ(x)dx| <= φ(Re x)d(Re x)e^{d²/2}/cos d at |Im v| <= d <= 3/2s.
def upper_half(s, rate, alpha):  # ∫φ(x)ψ(1−γ+γe^{sx−s²/2})dx from s/2 on, by x = s/2 + log(1+e^v)
    d, scale = min(Fraction(5, 4), steered(1.4 / s)), power(2 * pi(), Fraction(1, 2))
    most = 2 * sampled_gaussian(1 / s, rate, alpha) + power(ball(1 - rate), 1 - alpha) + 1
    def f(v):
        x = s / 2 + log(1 + exp(v))
        return psi(alpha, 1 - rate + rate * exp(s * x - s * s / 2), -(x * x) / 2) / (1 + exp(-v))
    edge, far = scale * most * exp(d * d / 2) / cosine(exp(ball(0, d))), alpha * s
    total, start, end = trapezoid(f, d, edge, -0.3 * BITS, far + math.hypot(BITS**0.5, far))
    c = rate + (1 - rate) * exp(-s * s / 2 - s * end)  # x₁ = s/2 + end
    tilted = exp(alpha * (alpha - 1) * s * s / 2 + alpha * log(c)) * tail(s / 2 + end - alpha * s)
    rise = log(1 + exp(start))  # x₀ − s/2, left of which φ is at most φ(s/2) and ψ rises
    return widened(total / scale, tilted + f(start) * exp((s + rise) * rise / 2) * (1 + exp(start)))
def loss(kind, values):  # the largest log P/Q: Δ/b, ε, or |log p/(1−p)|
    if kind == "RandomizedResponse":
        return log(max(values[0], 1 - values[0]) / min(values[0], 1 - values[0]))
    return ball(values[1] / values[0] if kind == "Laplace" else values[0])
def curve(kind, values, alpha):  # ε(α) on all the data
    if kind == "Gaussian":
        return ball(alpha * (values[1] / values[0]) ** 2 / 2)
    if kind == "ZCDP":
        return ball(values[1] + values[0] * alpha)
    s = loss(kind, values)
    rest = (1 + exp((1 - 2 * alpha) * s)) / (1 + exp(-s))
    if kind == "Laplace":
        rest = (alpha + (alpha - 1) * exp((1 - 2 * alpha) * s)) / (2 * alpha - 1)
    return s + log(rest) / (alpha - 1)
def binomial(inner, rate, alpha):  # Σ_l C(α,l)(1−γ)^{α−l}γ^l e^{(l−1)ε(l)}, with e⁰ for l < 2
    need(alpha.denominator == 1 and alpha > 1, "the theorem holds at whole orders from 2 on")
    spend(int(alpha) * (4 + int(alpha) // 2000))
    yes, no, total, ways = log(rate), log(1 - rate), ball(0), 1
    for l in range(int(alpha) + 1):
        grown = [(l - 1) * n * curve(*leaf, Fraction(l)) for n, *leaf in inner if l > 1]
        total = total + exp(sum(grown, log(ways) + (alpha - l) * no + l * yes))
        ways = ways * (int(alpha) - l) // (l + 1)
    return total
def sampled(name, kind, values, rate, alpha):  # E_Q[(1−γ+γL)^α], L = P/Q, or its bound
    if kind == "Gaussian":
        s = values[1] / values[0]
        is_pair = name == "MTZ19-EXACT"
        return sampled_gaussian(1 / s, rate, alpha) if is_pair else 1 + upper_half(s, rate, alpha)
    e = exp(loss(kind, values))
    u, v = 1 - rate + rate * e, 1 - rate + rate / e
    up, down = power(u, alpha), power(v, alpha)
    if name.startswith("TRIPLE-PURE"):
        return largest((up + e * down) / (e + 1), (up + u / up + e * (1 - rate) + rate) / (e + 2))
    if kind != "Laplace":
        return (e + 1 + psi(alpha, u) if name == "TRIPLE-DOMINATED" else up + e * down) / (e + 1)
    s, keep, lens = values[1] / values[0], ball(1 - rate), Fraction(3, 4)  # |1−γ+γL| in [1−γ, u]
    def weighed(g): return lambda x: exp(-x) / 2 * g(keep + rate * exp(2 * x - s))
    if name == "TRIPLE-DOMINATED":  # an atom of the loss at ε(∞), and what lies between
        most = 2 * up + power(keep, 1 - alpha) + 1
        middle = between(weighed(lambda t: psi(alpha, t)), s / 2, s, lens, most)
        return 1 + middle + psi(alpha, u) / (2 * e)
    middle = between(weighed(lambda t: power(t, alpha)), Fraction(0), s, lens, up)
    return (down + up / e) / 2 + middle

# 4. CONVERSIONS: does ε(α) <= ρ imply (ε, δ)?
# optimal: H(v) = p^α q^{1−α} + (1−p)^α (1−q)^{1−α} >= e^{(α−1)ρ}, p = v+δ, q = ve^{−ε}: convex.
def converts(name, rho, alpha, epsilon, delta):  # is ε implied?
    if name != "optimal":
        more = log(1 - 1 / alpha) - log(alpha) / (alpha - 1) if name == "improved" else ball(0)
        return at_most(rho - log(delta) / (alpha - 1) + more, epsilon)
    lean, left, right = exp(-epsilon), Fraction(0), 1 - delta
    for _ in range(BITS):
        v = Fraction(math.floor((left + right) * 2 ** (BITS - 1)), 2**BITS)
        if v <= left: break  # noqa: E701
        up, down = (v + delta) / (v * lean), (1 - v - delta) / (1 - v * lean)
        high, low = (exp((alpha - 1) * (log(x) - rho)) for x in (up, down))
        value = (v + delta) * high + (1 - v - delta) * low
        slope = alpha * (high - low) + (alpha - 1) * lean * (low * down - high * up)
        if value.re + value.rad < 1 << BITS: return False  # noqa: E701
        left, right = (v, right) if slope.re < 0 else (left, v)
    return at_most(1, value - largest(-slope, 0) * (1 - delta - v) - largest(slope, 0) * v)

# 5. THE PROFILE δ(ε) of (P, Q), P with the record and Q without it, or of (Q, P): one added
# Two answers: (p, 1−p) and (1−p, p), for ε-DP a p above e^ε/(1+e^ε). Outcomes of one P/Q are one.
def pairs_of(kind, values, sample):  # all lists of the (p, q) of ((1−γ)Q + γP, Q), P and Q two laws
    laws, x, found, rate = values, values[0], set(), sample[1] if sample else 1
    if kind in ("RandomizedResponse", "PureDP"):
        p = x if kind[0] == "R" else Fraction(upper(1 / (1 + exp(-x))).re, 1 << BITS)
        laws = [[p, 1 - p], [1 - p, p]]
    spend(len(laws) ** 2 * len(laws[0]))
    for one, other in permutations(laws, 2):
        masses = {}
        for p, q in zip(one, other, strict=True):
            if p + q:
                x, y = masses.get(p / (p + q), (0, 0))
                masses[p / (p + q)] = x + (1 - rate) * q + rate * p, y + q
        found.add(tuple(sorted(masses.values())))
    return found

# P = Π k!/Π j_i! Π p_i^{j_i}, outcome i j_i times of k; where Q is 0, P is 1 − Π (Σ_{q>0} p)^k.
def by_sum(parts, pairs, y):  # Σ (P − e^y Q)⁺
    rows, grown, shared = [(ball(1), ball(1))], exp(y), ball(1)
    runs = [(part[0], [x for x in pair if all(x)]) for part, pair in zip(parts, pairs, strict=True)]
    spend(sum(k * len(pair) for k, pair in runs))
    spend(4 * math.prod(math.comb(k + len(pair) - 1, k) for k, pair in runs))
    for k, pair in runs:
        shared = shared * ball(sum(p for p, _ in pair)) ** k
        logs, table = [[log(x) for x in law] for law in zip(*pair, strict=True)], []
        factorials = [*accumulate(map(log, range(1, k + 1)), initial=ball(0))]  # log j!
        for bars in combinations(range(k + len(pair) - 1), len(pair) - 1):
            times = [b - a - 1 for a, b in pairwise((-1, *bars, k + len(pair) - 1))]
            ways = factorials[k] - sum((factorials[j] for j in times), ball(0))
            table.append([exp(sum(map(operator.mul, law, times), ways)) for law in logs])
        rows = [(p * x, q * y) for p, q in rows for x, y in table]
    return sum((largest(p - grown * q, 0) for p, q in rows), 1 - shared)

# e^{σ²θ²/2}(m₀ − Tm₁ + T²m₂/2), m_j = E_Q[R^a(1−(1−γ)/R)^j], T = t sin θ − 2max(−a,0)tan²(θ/2).
def decay(sigma, rate, a, t):  # at least |E_Q[R^{a+iτ}]| for all τ >= t, by any 0 < θ < π
    f0, f1, f2 = (sampled_gaussian(sigma, rate, a - i) for i in range(3))
    m1, m2 = f0 - (1 - rate) * f1, f0 - 2 * (1 - rate) * f1 + (1 - rate) ** 2 * f2
    theta = t * m1.re * f0.re / (sigma**2 * f0.re**2 + t * t * m2.re * f0.re)
    wave = exp(ball(0, theta := min(Fraction(3), steered(theta))))
    bent = 2 * max(-a, 0) * (1 - cosine(wave)) / (1 + cosine(wave))
    moved = t * sine(wave) - bent
    if theta <= 0 or not at_most(0, moved):
        return f0
    return exp(sigma**2 * theta**2 / 2) * (f0 - moved * m1 + moved * moved * m2 / 2)
def moments(kind, values, sample, pair, a, lines):  # F(a+it), and a bound of |F| from the last t on
    if pair:
        need(all(p and q for p, q in pair), "an outcome is impossible under one law")
        logs = [(q, log(p / q)) for p, q in pair]
        found = [sum((q * exp(ball(a, t) * x) for q, x in logs), ball(0)) for t in lines[:-1]]
        return found, found[0]
    sigma, half, after = values[0] / values[1], (values[1] / values[0]) ** 2 / 2, lines[-1]
    if sample:
        found = [sampled_gaussian(sigma, sample[1], a, t) for t in lines[:-1]]
        return found, decay(sigma, sample[1], a, after)
    found = [exp(ball((a * a - a - t * t) * half, t * (2 * a - 1) * half)) for t in lines[:-1]]
    return found, exp((a * a - a - after**2) * half)

# M(s) = F(1+s), F(z) = E_Q[(P/Q)^z], and F(−s) of (Q, P). Left out: e^{−cy} ΠB^k/(πhN), |F| <= B.
def by_contour(parts, pairs, y, added, c, step, count):  # (h/2π) ΣM(s)e^{−sy}/(s(s+1)), s = c+inh
    spend(count)
    lines, rest, value = [n * step for n in range(count + 2)], -c * y, ball(0)
    products = [ball(1)] * (count + 1)
    for (k, [(_, *leaf)], sample), pair in zip(parts, pairs, strict=True):
        found, bound = moments(*leaf, sample, pair, -c if added else 1 + c, lines)
        products = [x * y**k for x, y in zip(products, found, strict=True)]
        rest = rest + k * log(upper(bound) + Ball(1))
    for t, m in zip(lines, products, strict=False):
        size = (c * c + t * t) * ((c + 1) ** 2 + t * t)
        kernel = ball((c * (c + 1) - t * t) / size, -t * (2 * c + 1) / size)
        m = Ball(m.re, -m.im if added else m.im, m.rad)
        value = value + cosine(m * kernel * exp(ball(-c * y, -t * y))) * (2 if t else 1)
    return value * step / (2 * pi()) + exp(rest) / (pi() * step * count)

# 6. THE VERDICT
CONVERSIONS = {"classic": "MIR17-P3", "improved": "CKS20-P12", "optimal": "ALCKS21"}
CURVES = dict.fromkeys(PARAMETERS, "MIR17-T2") | {"PureDP": "KOV15", "ZCDP": "BS16-D1.1"}
OWN = "(symacct, docs/proofs.md, section 14"
#: Which mechanisms a theorem is about, by their first letters; in which samples: + (a record added
#: or removed), or P and S where it is replaced; and what is taken on trust.
THEOREMS = {
    "ALCKS21": ("", "", "two answers are the worst of ε(α) <= ρ (Asoodeh et al. 2021, optimal)"),
    "BS16-D1.1": ("Z", "", "ε(α) <= ξ + ρα is what zCDP means (Bun, Steinke 2016)"),
    "CKS20-P12": ("", "", "the improved conversion (Canonne, Kamath, Steinke 2020, Prop. 12)"),
    "KOV15": ("P", "", "two answers are the worst ε-DP mechanism (Kairouz, Oh, Viswanath 2015)"),
    "MIR17-P1": ("", "", "curves of mechanisms run adaptively add up (Mironov 2017, Prop. 1)"),
    "MIR17-P3": ("", "", "the classic conversion (Mironov 2017, Proposition 3)"),
    "MIR17-T2": ("GLR", "", "the curves of noise and of two answers (Mironov 2017, Table II)"),
    "MTZ19-EXACT": ("G", "+", "the sampled Gaussian's worst pair (Mironov et al. 2019, Thm 5)"),
    "PAIR-EXACT": ("LRP", "+", "the worst pair where a symmetry swaps the laws (the same)"),
    "S22-POISSON": ("GLRPZ", "+", "the sum over l (Steinke 2022; symacct, docs/theorems.md)"),
    "TRIPLE-DOMINATED": ("GLRP", "S", f"one pair dominates all neighbours {OWN}, Theorem U)"),
    "TRIPLE-FINITE": ("R", "PS", f"the worst three of two laws {OWN}, Theorem 1)"),
    "TRIPLE-LINE": ("L", "S", f"the worst three laws of noise on the line {OWN}, Theorem L)"),
    "TRIPLE-PURE": ("P", "S", f"the worst three laws of ε-DP mechanisms {OWN}, Theorem 2)"),
    "TRIPLE-PURE-UPPER": ("LR", "S", f"the worst three laws of ε-DP mechanisms {OWN}, Theorem 2)"),
    "ZDW22": ("", "", "pairs that dominate compose, all one way round (Zhu, Dong, Wang 2022)"),
    "ZW19-T8": ("GLRP", "+", "the sum over l where a symmetry swaps the laws (Zhu, Wang 2019)")}
def by_renyi(parts, proof, epsilon, delta):  # the theorems used, where all holds
    _, order, name, bounds = keys(proof, "method", "order", "conversion", "bounds")
    alpha, total = number(order, 1), Fraction(0)
    used = {CONVERSIONS[known(name, CONVERSIONS, "conversion")]}
    need(isinstance(bounds, list) and len(bounds) == len(parts), "each part needs one bound")
    for (count, inner, sample), stated in zip(parts, bounds, strict=True):
        theorem, bound = keys(stated, "theorem", "epsilon")
        kinds, samples, _ = THEOREMS[known(theorem, THEOREMS, "theorem")]
        there = sample and ("+" if sample[2] == "add_remove" else sample[0][0])
        need((there in samples if there else not samples) and all(x[1][0] in kinds for x in inner),
             f"{theorem} is not about such mechanisms, or not about such samples")
        times, *leaf = inner[0]
        if sample and theorem in ("S22-POISSON", "ZW19-T8"):
            value = log(binomial(inner, sample[1], alpha)) / (alpha - 1)
        elif sample:
            need(len(inner) == 1 and times == 1, f"{theorem} is about one mechanism on a sample")
            value = log(sampled(theorem, *leaf, sample[1], alpha)) / (alpha - 1)
        else:
            value = curve(*leaf, alpha)
        need(at_most(value, number(bound, -1)), f"ε(α) is {shown(value)}, by {theorem}")
        total += count * number(bound, -1)
        used |= {theorem, *(CURVES[kind] for _, kind, _ in inner)}
        if count > 1 or len(parts) > 1 or len(inner) > 1 or times > 1:
            used.add("MIR17-P1")
    need(converts(name, total, alpha, epsilon, delta), f"ε(α) <= {shown(total)} is not enough")
    return used
def by_profile(parts, proof, epsilon, delta):  # the theorems used, where δ(ε) is at most δ
    choices, kinds, is_sum = [], {inner[0][1] for _, inner, _ in parts}, proof["method"] == "sum"
    _, *lines = keys(proof, "method", *(() if is_sum else ("removed", "added")))
    for _, [(times, kind, values), *more], sample in parts:
        is_sample = not sample or sample[::2] == (SAMPLES[0], "add_remove")
        if times > 1 or more or kind in ("Laplace", "ZCDP") or not is_sample:
            raise CannotCheck("the profile of one of the parts is not known here")
        choices.append(pairs_of(kind, values, sample) if kind != "Gaussian" else [()])
    if max(map(len, choices)) > 1 and sum(part[0] for part in parts) > 1:
        raise CannotCheck("which two of the laws are the worst may change from run to run")
    need(not is_sum or "Gaussian" not in kinds, "noise has no sum over answers")
    for pairs, way in product(product(*choices), (1, -1)):  # removed, added
        if is_sum:
            value = by_sum(parts, [[x[::way] for x in pair] for pair in pairs], epsilon)
        else:
            c, step, nodes = keys(lines[way < 0], "c", "step", "nodes")
            line = number(c), number(step), whole(nodes)
            value = by_contour(parts, pairs, epsilon, way < 0, *line)
        need(at_most(value, delta), f"what is shown of δ(ε) is at most {shown(value)}")
    return {"ZDW22"} | ({"KOV15"} & {CURVES[kind] for kind in kinds})
def shown(x):  # about what a number is
    value = ball(x).re + ball(x).rad
    return f"{value / (1 << BITS):.12g}" if value >> BITS < 1 << 1000 else "more than 2^1000"
def check(document):  # the claim in words and the theorems used, where it is proved
    named = [isinstance(document, dict) and document.get(x) for x in ("format", "version")]
    if named != ["symacct certificate", "1"]:
        raise CannotCheck("this is no certificate of symacct, or one of another version")
    names = "format version expression mechanism relation epsilon delta theorems proof"
    _, _, text, tree, relation, epsilon, delta, theorems, proof = keys(document, *names.split())
    parts, written = read(tree)
    need(text == written, f"the text of the expression is not {written[:1000]}")
    relations = {sample[2] for _, _, sample in parts if sample} or {"either"}
    need({known(relation, RELATIONS, "relation")} == relations, "the relation is another")
    method = proof.get("method") if isinstance(proof, dict) else None
    known(method, ("renyi", "contour", "sum"), "method")
    judge = by_renyi if method == "renyi" else by_profile
    used = judge(parts, proof, number(epsilon, -1), number(delta, 0, 1))
    need(theorems == sorted(used), f"the theorems used are {', '.join(sorted(used))}")
    words = f"{text} is (ε, δ)-differentially private for ε = {epsilon} and δ = {delta}"
    return f"{words}, where neighbours differ in {RELATIONS[relation]}", used
def parsed(content):  # the document, of which no key stands twice and no number without quotes
    if len(content) > MOST_BYTES:
        raise CannotCheck(f"the file has more than {MOST_BYTES} bytes")
    def no_repeats(pairs):
        need(len(dict(pairs)) == len(pairs), "a key is there twice")
        return dict(pairs)
    def no_number(text): need(False, f"{text[:60]} stands without quotes")
    unread = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), no_number)
    return json.loads(content.decode(), object_pairs_hook=no_repeats, **unread)
def main(path):  # print the verdict on a file; its exit status. What fails here is no finding
    global BITS
    try:
        with open(path, "rb") as file:
            document = parsed(file.read(MOST_BYTES + 1))
        for BITS in PRECISIONS:
            try:
                claim, used = check(document)
                break
            except Undecided:
                if PRECISIONS[-1] == BITS:
                    raise
    except Refuted as why:
        print(f"refuted: {why}")
        return 1
    except Exception as why:
        print(f"cannot check: {str(why)[:300] or type(why).__name__}")
        return 2
    trusted = (f"  {name}: {THEOREMS[name][2]}." for name in sorted(used))
    print(f"proved: {claim}.", "Taken on trust:", *trusted, sep="\n")
    return 0

if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")  # where a terminal has no Greek letters
    sys.exit(main(sys.argv[1] if len(sys.argv) == 2 else ""))
