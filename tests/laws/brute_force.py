"""The largest divergence of what fits a description, by brute force over finite laws.

Nothing here uses a theorem or a profile of symacct's: of a node only its fields are read. A record
is a slot of the data, which is empty ("0"), or holds one of the records "1", "2" and "z"; all other
records are the same, and are revealed, which costs nothing, as divergences are jointly convex. What
fails tells the content. A description then stands for all tuples of laws, one law for each content
of the slot. What an output adds to the answer is a value G of its likelihoods under each content,
convex and homogeneous: p^α q^{1−α}, or max(p − e^ε q, 0). So

    largest(leaf, G) = max over its tuples of laws of Σ_outcomes G(likelihoods),
    largest(m + n, G) = largest(m, u ↦ largest(n, v ↦ G(u·v))),

which is the largest over all adaptive choices, and a sample mixes the likelihoods of each output.
At the order ∞ the sums are maxima and G is the ratio.

`Below` tries tuples of laws that fit the description, so that its answer is attained. `Above` has
all of them, up to post-processing, or raises Undecided: an ε-DP mechanism is a mixture of the
extreme ones, whose likelihoods are the extreme rays of {v: v_i <= e^ε v_j}.
"""

import itertools
import math
import operator
import random
from collections import Counter
from fractions import Fraction
from functools import cache, singledispatch

from mpmath.ctx_mp import MPContext

from symacct import (
    ApproximateDP,
    Compose,
    DistributionPair,
    Either,
    ExponentialMechanism,
    Failing,
    FiniteMechanism,
    GroupPrivacy,
    Laplace,
    PoissonSubsample,
    PostProcess,
    PureDP,
    RandomAllocation,
    RandomizedResponse,
    RepeatAndSelect,
    Shuffled,
    SubsampleWithoutReplacement,
    laws,
)
from symacct.kernel.claims import ADD_REMOVE, ZERO_OUT, Kind
from symacct.kernel.errors import SymacctError

INFINITY = float("inf")
MOST_VALUES = 4_000  # outcomes that one answer may take of a leaf, so that a draw takes a second
TINY = 1e-35  # at 50 digits: nothing
BINS = 6  # of the losses of Laplace noise between its two ends
MOST_PARTS = 8  # runs of a composition


class Undecided(Exception):
    """Nothing is known of this description here, or it would take too long."""


class Numbers(MPContext):
    """mpmath at 50 digits; positive terms alone are summed, so that 10^-30 is far above errors."""

    sure = 1e-30

    def __init__(self):
        super().__init__()
        self.dps = 50

    def number(self, x):
        return self.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else self.mpf(x)


class Floats:
    """float64, to tell at once what is worth a second look."""

    sure = 1e-8
    inf = INFINITY
    exp, log, number = math.exp, math.log, float


FLOATS, NUMBERS = Floats(), Numbers()


# --- the leaves: tuples of laws, one for each content of the slot, as lists of outcomes


def told_apart(tuples):
    """Without those that do not depend on the content, and alike but for outcomes' names once."""
    found = {}
    for columns in tuples:
        outcomes = tuple(sorted(u for u in columns if any(u)))
        if any(len(set(u)) > 1 for u in outcomes):
            found[outcomes] = None
    return list(found) or [((1,) * len(next(iter(tuples))[0]),)]


def every_choice(given, slots):
    """Each content has any of these laws."""
    return told_apart(
        [list(zip(*chosen, strict=True)) for chosen in itertools.product(given, repeat=len(slots))]
    )


@cache
def extreme_laws(ctx, epsilon, slots):
    """The extreme tuples of laws with ratios in [e^−ε, e^ε] between neighbouring contents.

    With the empty slot, which is the first, it and a record are neighbours, else any two contents.
    """
    if ctx is FLOATS:  # a small ε makes rays that float64 hardly tells apart
        exactly = extreme_laws(NUMBERS, epsilon, slots)
        return [tuple(tuple(map(float, u)) for u in outcomes) for outcomes in exactly]
    r, k = ctx.exp(ctx.number(epsilon)), len(slots)
    if r == 1:
        return [((ctx.number(1),) * k,)]
    if "0" in slots:
        ends = itertools.product((r, 1 / r), repeat=k - 1)
        rays = [(ctx.number(1), *others) for others in ends]
    elif k > 4:
        raise Undecided("all laws of a fifth record")
    else:
        rays = [v for v in itertools.product((1, r), repeat=k) if len(set(v)) > 1]
    found = []
    for basis in itertools.combinations(rays, k):
        shares = solved(basis, ctx)
        if shares and min(shares) > -TINY:
            outcomes = zip(shares, basis, strict=True)
            found.append([tuple(t * x for x in ray) for t, ray in outcomes if t > TINY])
    return told_apart(found)


def solved(rays, ctx):
    """t with Σ t_i ray_i = (1, …, 1), by Gauss and Jordan; None if the rays are dependent."""
    k = len(rays)
    rows = [[ctx.number(ray[i]) for ray in rays] + [ctx.number(1)] for i in range(k)]
    for i in range(k):
        best = max(range(i, k), key=lambda j: abs(rows[j][i]))
        rows[i], rows[best] = rows[best], rows[i]
        if abs(rows[i][i]) < TINY:
            return None
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for j in range(k):
            if j != i:
                rows[j] = [x - rows[j][i] * y for x, y in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows]


@cache
def laplace_laws(ctx, shift, bins, merged):
    """(p, q) of Laplace noise: losses merged in bins, or moved to the ends of each bin.

    The first is a post-processing of the noise, and the noise is one of the second.
    """
    s = ctx.number(shift)
    outcomes = [(ctx.number(1) / 2, ctx.exp(-s) / 2), (ctx.exp(-s) / 2, ctx.number(1) / 2)]
    for i in range(bins):
        a, c = s * i / bins, s * (i + 1) / bins
        p, q = (ctx.exp(-a) - ctx.exp(-c)) / 2, (ctx.exp(c - s) - ctx.exp(a - s)) / 2
        if merged:
            outcomes.append((p, q))
            continue
        high, low = ctx.exp(s - 2 * a), ctx.exp(s - 2 * c)
        at_high = (p - low * q) / (high - low)
        outcomes += [(at_high * high, at_high), ((q - at_high) * low, q - at_high)]
    ratios = {}
    for p, q in outcomes:  # neighbouring bins share an end
        key = round(float(p / q), 9) if not merged else (p, q)
        old = ratios.get(key, (0, 0))
        ratios[key] = old[0] + p, old[1] + q
    return tuple(ratios.values())


@singledispatch
def tuples_of_laws(node, engine, slots):
    raise Undecided(type(node).__name__)


@tuples_of_laws.register
def _(node: RandomizedResponse, engine, slots):
    p = engine.ctx.number(node.p)
    return every_choice([(p, 1 - p), (1 - p, p)], slots)


@tuples_of_laws.register
def _(node: FiniteMechanism, engine, slots):
    return every_choice([tuple(map(engine.ctx.number, law)) for law in node.laws], slots)


@tuples_of_laws.register
def _(node: DistributionPair, engine, slots):
    """Of three records a pair does not say that there is no third law, unless P is that of each."""
    P, Q = (tuple(map(engine.ctx.number, law)) for law in (node.P, node.Q))
    if node.with_record == "P":
        return told_apart([list(zip(*(Q if s == "0" else P for s in slots), strict=True))])
    if len(slots) > 2 and engine.is_above:
        raise Undecided("a pair says nothing of a third law")
    return every_choice([P, Q], slots)


@tuples_of_laws.register
def _(node: PureDP, engine, slots):
    if len(slots) > 4 and "0" not in slots and not engine.is_above:
        r = engine.ctx.exp(engine.ctx.number(node.pure))
        return every_choice([(r / (1 + r), 1 / (1 + r)), (1 / (1 + r), r / (1 + r))], slots)
    return extreme_laws(engine.ctx, node.pure, slots)


@tuples_of_laws.register
def _(node: Laplace, engine, slots):
    if len(slots) > 2:
        raise Undecided("three records under noise on the line")
    shift = node.sensitivity / node.b
    pair = laplace_laws(engine.ctx, shift, engine.bins, not engine.is_above)
    return told_apart([pair])


@tuples_of_laws.register
def _(node: ExponentialMechanism, engine, slots):
    """Two losses ε apart, at some places of them."""
    if engine.is_above or len(slots) > 2:
        raise Undecided("all places of two losses")
    ctx, found = engine.ctx, []
    for i in range(1, 8):
        high = ctx.number(node.fields()["epsilon"]) * i / 8
        up, down = ctx.exp(high), ctx.exp(high - ctx.number(node.fields()["epsilon"]))
        q = (1 - down) / (up - down)
        found.append([(up * q, q), (1 - up * q, 1 - q)])
    return told_apart([*found, *([(q, p) for p, q in one] for one in found)])


@tuples_of_laws.register
def _(node: RepeatAndSelect, engine, slots):
    """The best of K runs has F(best of the law), F the generating function of K's law."""
    if engine.is_above:
        raise Undecided("all scores of all outputs")
    ctx, runs = engine.ctx, node.runs
    if isinstance(runs, laws.Poisson):
        mean = ctx.number(runs.rate)
        generating = lambda x: ctx.exp(mean * (x - 1))  # noqa: E731
    elif isinstance(runs, laws.Binomial):
        theta = ctx.number(runs.theta)
        generating = lambda x: (1 - theta + theta * x) ** int(runs.n)  # noqa: E731
    else:
        raise Undecided("another law of the runs")
    found = []
    for outcomes in tuples_of_laws(node.mechanism, engine, slots):
        for order in itertools.permutations(outcomes):
            rising = [(ctx.number(0),) * len(slots)]
            for u in order:
                rising.append(tuple(map(operator.add, rising[-1], u)))
            best = [tuple(map(generating, u)) for u in rising]
            steps = itertools.pairwise(best)
            found.append([best[0]] + [tuple(map(operator.sub, b, a)) for a, b in steps])
    return told_apart(found)


# --- the operations


class Engine:
    """The largest Σ or max of a value, over what is allowed for each content of the slot."""

    is_above = False

    most = MOST_VALUES

    def __init__(self, ctx, combine=sum, bins=BINS):
        self.ctx, self.combine, self.bins = ctx, combine, bins
        self.values = 0

    def largest(self, node, slots, value):
        return under(node, self, slots, value)

    def of_leaf(self, node, slots, value):
        choices = tuples_of_laws(node, self, slots)
        self.values += sum(map(len, choices))
        if self.values > Engine.most:
            raise Undecided("too many outcomes")
        return max(self.combine(map(value, outcomes)) for outcomes in choices)

    def fresh(self, slots):
        """The record that fills a sample of fixed size in the place of the one in the slot."""
        return "z"

    def one_by_one(self, terms, slots, value):
        """Adaptively, in each order of the parts that are written."""
        return max(
            self._in_order([part for part in order for _ in range(terms[part])], slots, value)
            for order in itertools.permutations(terms)
        )

    def _in_order(self, parts, slots, value):
        if not parts:
            return value((self.ctx.number(1),) * len(slots))
        first, *rest = parts
        if not rest:
            return self.largest(first, slots, value)
        return self.largest(first, slots, lambda u: self._in_order(
            rest, slots, lambda v: value(tuple(map(operator.mul, u, v)))))  # fmt: skip


class Below(Engine):
    """Attained by some mechanism that fits the description, on some neighbours."""


class Above(Engine):
    """At least what any mechanism that fits the description attains."""

    is_above = True

    def fresh(self, slots):
        """One that is none of those known."""
        return next(s for s in ("z", "y", "x", "w") if s not in slots)

    def one_by_one(self, terms, slots, value):
        """Adaptively, the next part being chosen too."""
        left = {part: count for part, count in terms.items() if count}
        if not left:
            return value((self.ctx.number(1),) * len(slots))
        found = []
        for part, count in left.items():
            others = left | {part: count - 1}
            rest = lambda u, others=others: self.one_by_one(  # noqa: E731
                others, slots, lambda v: value(tuple(map(operator.mul, u, v)))
            )
            found.append(self.largest(part, slots, rest))
        return max(found)


@singledispatch
def under(node, engine, slots, value):
    return engine.of_leaf(node, slots, value)


@under.register
def _(node: Compose, engine, slots, value):
    if sum(node.terms.values()) > MOST_PARTS:
        raise Undecided("many parts")
    return engine.one_by_one(dict(node.terms), slots, value)


@under.register
def _(node: Either, engine, slots, value):
    first, second = (engine.largest(m, slots, value) for m in (node.first, node.second))
    if engine.combine is max:
        return max(first, second)
    share = engine.ctx.number(node.share)
    return share * first + (1 - share) * second


@under.register
def _(node: PostProcess, engine, slots, value):
    """The identity among them."""
    return engine.largest(node.mechanism, slots, value)


@under.register
def _(node: Failing, engine, slots, value):
    """With probability δ the content is told."""
    delta = engine.ctx.number(node.parameters()["delta"])
    rest = engine.largest(node.mechanism, slots, value)
    told = [value(tuple(delta * (s == content) for s in slots)) for content in slots]
    return max(rest, *told) if engine.combine is max else (1 - delta) * rest + sum(told)


@under.register
def _(node: ApproximateDP, engine, slots, value):
    """Of two contents the worst is a pure one that may fail."""
    if engine.is_above and len(slots) > 2:
        raise Undecided("(ε, δ) is stated of two datasets")
    epsilon, delta, relation = node.fields().values()
    return engine.largest(Failing(PureDP(epsilon, relation), delta), slots, value)


@under.register
def _(node: GroupPrivacy, engine, slots, value):
    if engine.is_above:
        raise Undecided("all paths of a group")
    return engine.largest(node.mechanism, slots, value)


@under.register
def _(node: PoissonSubsample, engine, slots, value):
    inner = ("0", *(s for s in slots if s != "0"))
    return sampled(node, engine, slots, inner, "0", value)


@under.register
def _(node: SubsampleWithoutReplacement, engine, slots, value):
    other = engine.fresh(slots)
    empty = [] if node.adjacency != ZERO_OUT else ["0"]  # which the sample may hold
    inner = (*empty, *(s for s in slots if s not in ("0", other)), other)
    return sampled(node, engine, slots, inner, other, value)


def sampled(node, engine, slots, inner, other, value):
    """(1−γ)·law(other) + γ·law(content), which is law(other) where the slot is empty."""
    gamma = engine.ctx.number(node.gamma)
    base = inner.index(other)
    places = [inner.index(s) if s in inner else base for s in slots]

    def mixed(u):
        return value(tuple((1 - gamma) * u[base] + gamma * u[i] for i in places))

    return engine.largest(node.mechanism, inner, mixed)


@under.register
def _(node: RandomAllocation, engine, slots, value):
    """The mean, over all choices of steps, of the product of likelihoods with the record in these.

    `sums` are those over choices of j of the steps so far, for each record.
    """
    inner = ("0", *(s for s in slots if s != "0"))
    if node.steps > MOST_PARTS:
        raise Undecided("many steps")
    places = [inner.index(s) for s in slots]
    choices = math.comb(node.steps, node.times)

    def step(left, sums):
        if not left:
            every = (sums[0][0], *(x[-1] / choices for x in sums))
            return value(tuple(every[i] for i in places))
        return engine.largest(node.mechanism, inner, lambda u: step(left - 1, [
            [x[j] * u[0] + (x[j - 1] * y if j else 0) for j in range(len(x))]
            for x, y in zip(sums, u[1:], strict=True)]))  # fmt: skip

    start = [engine.ctx.number(1), *[engine.ctx.number(0)] * node.times]
    return step(node.steps, [start] * (len(inner) - 1))


@under.register
def _(node: Shuffled, engine, slots, value):
    """How many people give each answer; others have any values."""
    others = tuple(f"other {i}" for i in range(1, node.n))
    best = []
    for outcomes in tuples_of_laws(node.mechanism, engine, (*slots, *others)):
        engine.values += len(outcomes) ** node.n
        if engine.values > Engine.most:
            raise Undecided("too many outcomes")
        counted = {}
        for answers in itertools.product(outcomes, repeat=node.n):
            rest = math.prod(u[len(slots) + i] for i, u in enumerate(answers[1:]))
            seen = counted.setdefault(tuple(sorted(answers)), [0] * len(slots))
            for i in range(len(slots)):
                seen[i] += answers[0][i] * rest
        best.append(engine.combine(map(value, map(tuple, counted.values()))))
    return max(best)


# --- divergences


def neighbours(node):
    """(the slot's contents, the first and the second dataset's) of a description's relation."""
    relation = node.claim.adjacency
    if relation.relation in (ADD_REMOVE.relation, ZERO_OUT.relation):
        steps = [(("0", "1"), "1", "0"), (("0", "1"), "0", "1")]
        if relation.group == 1:
            return steps
        return [*steps, (("0", "1", "2"), "1", "2")]
    return [(("1", "2"), "1", "2"), (("1", "2"), "2", "1")]


def ratio(p, q):
    return p / q if q else (INFINITY if p else 0)


def renyi(node, order, engine, ctx, bins=BINS):
    """The largest D_α(P‖Q) of neighbouring datasets, for the engine's mechanisms."""
    found = []
    for direction in neighbours(node):
        try:
            found.append(one_direction(node, order, engine, ctx, bins, direction))
        except Undecided:
            if engine is not Above:
                continue
            found.append(revealed(node, order, ctx, bins, direction))
    return largest_of(found)


def largest_of(found):
    if not found:
        raise Undecided("no pair")
    return max(found)


def one_direction(node, order, engine, ctx, bins, direction):
    """D_α from one content of the slot to another."""
    slots, first, second = direction
    i, j = slots.index(first), slots.index(second)
    if order == INFINITY:
        largest = engine(ctx, max, bins).largest(node, slots, lambda u: ratio(u[i], u[j]))
        return ctx.log(largest) if largest < ctx.inf else ctx.inf
    a = order if isinstance(order, int) else ctx.number(order)

    def value(u):
        if not u[i]:
            return 0
        return u[i] * (u[i] / u[j]) ** (a - 1) if u[j] else ctx.inf

    moment = engine(ctx, sum, bins).largest(node, slots, value)
    return ctx.log(moment) / (a - 1) if moment < ctx.inf else ctx.inf


def revealed(node, order, ctx, bins, direction):
    """At most this, if each part is told what it was drawn and each sample is told."""
    slots, first, second = direction

    def at(part, inner=slots):
        way = inner, first, second
        try:
            return one_direction(part, order, Above, ctx, bins, way)
        except Undecided:
            return revealed(part, order, ctx, bins, way)

    if isinstance(node, Compose):
        return sum((n * at(m) for m, n in node.terms.items()), ctx.number(0))
    if isinstance(node, PostProcess):
        return at(node.mechanism)
    if isinstance(node, PoissonSubsample):
        inner = ("0", *(s for s in slots if s != "0"))
        return averaged(ctx, order, [(node.gamma, at(node.mechanism, inner))])
    if isinstance(node, SubsampleWithoutReplacement) and "0" not in slots:
        return averaged(ctx, order, [(node.gamma, at(node.mechanism))])
    if isinstance(node, Either):
        parts = (node.share, at(node.first)), (1 - node.share, at(node.second))
        return averaged(ctx, order, parts)
    raise Undecided(type(node).__name__)


def averaged(ctx, order, parts):
    """Moments averaged; what is missing to 1 is a share of nothing."""
    if order == INFINITY:
        return max(value for _, value in parts)
    a = ctx.number(order)
    rest = 1 - sum((share for share, _ in parts), Fraction(0))
    if any(value == ctx.inf and share for share, value in parts):
        return ctx.inf
    moments = (ctx.number(share) * ctx.exp((a - 1) * value) for share, value in parts)
    return ctx.log(sum(moments, ctx.number(rest))) / (a - 1)


def hockey_stick(node, epsilon, engine, ctx, bins=BINS):
    """The largest Σ max(P − e^ε Q, 0) of neighbouring datasets."""
    found, factor = [], ctx.exp(ctx.number(epsilon))
    for slots, first, second in neighbours(node):
        i, j = slots.index(first), slots.index(second)
        inner = engine(ctx, sum, bins)
        value = lambda u, i=i, j=j: max(u[i] - factor * u[j], 0)  # noqa: E731
        try:
            found.append(inner.largest(node, slots, value))
        except Undecided:
            if engine is Above:
                raise
    return largest_of(found)


# --- what is claimed, against both


ORDERS = (2, Fraction(5, 2), 3, 5, INFINITY)


def number(ctx, x):
    """One end of an enclosure."""
    return ctx.number(x) if x < INFINITY else ctx.inf


def verdicts(node, order, ctx, bins=BINS):
    """{what: verdict} of the curve and of the lower bound at one order."""
    answers = {"curve": claimed(node.rdp, order), "lower": claimed(node.lower_bound, order)}
    return judged(answers, ctx, lambda engine: renyi(node, order, engine, ctx, bins))


def profile_verdicts(node, epsilon, ctx, bins=BINS):
    """{what: verdict} of δ by the exact conversion, and of its lower bound, at a rational ε."""

    def ask(epsilon):
        return node.delta(epsilon, digits=10, conversion="exact").delta

    def ask_below(epsilon):
        return node.lower_delta(epsilon, digits=10)

    answers = {"profile": claimed(ask, epsilon), "lower": claimed(ask_below, epsilon)}
    return judged(answers, ctx, lambda engine: hockey_stick(node, epsilon, engine, ctx, bins))


def claimed(ask, at):
    """(kind, lower, upper), or None where nothing is answered."""
    try:
        found = ask(at)
    except SymacctError:
        return None
    return found.claim.kind, found.lower, found.upper


def judged(answers, ctx, truth):
    """Each answer as it stands to what is attained and to what nothing exceeds."""
    found = {name: "no answer" for name, answer in answers.items() if answer is None}
    answers = {name: answer for name, answer in answers.items() if answer is not None}
    if not answers:
        return found
    ends = []
    for engine in (Below, Above):
        try:
            ends.append(truth(engine))
        except Undecided:
            ends.append(None)
    for name, (kind, lower, upper) in answers.items():
        found[name] = verdict(kind, number(ctx, lower), number(ctx, upper), *ends, ctx.sure)
    return found


def verdict(kind, lower, upper, below, above, sure):
    """In a word; `sure` is what the engine's arithmetic may err by, relatively."""

    def is_over(x, y):
        return x > y + sure * (1 + abs(y)) if y < INFINITY else False

    if kind is not Kind.LOWER and below is not None and is_over(below, upper):
        return f"{kind} below what is attained"
    if kind is Kind.UPPER:
        return "right" if below is not None else "undecided"
    if above is not None and is_over(lower, above):
        return f"{kind} above what any mechanism attains"
    if below is None or is_over(lower, below):
        return "undecided"
    return "right"


# --- random descriptions


def share(r):
    return Fraction(r.choice(["1/2", "1/3", "2/3", "1/5", "1/10", "9/10"]))


def law(r, outcomes):
    masses = [r.choice([0, 1, 1, 2, 3, 5, 9]) for _ in range(outcomes)]
    masses[r.randrange(outcomes)] += 1
    return [Fraction(m, sum(masses)) for m in masses]


def pair(r, **more):
    outcomes = r.choice([2, 2, 3])
    return DistributionPair(law(r, outcomes), law(r, outcomes), **more)


def finite(r):
    outcomes = r.choice([2, 3])
    return FiniteMechanism([law(r, outcomes) for _ in range(r.choice([2, 3]))])


LEAVES = {
    "response": lambda r: RandomizedResponse(r.choice(["3/4", "2/3", "9/10", "3/5", "99/100"])),
    "pure": lambda r: PureDP(r.choice(["1", "1/2", "12/5", "1/10", "5", "1e-12"])),
    "approximate": lambda r: ApproximateDP(r.choice(["0", "1/2", "2"]), r.choice(["1/9", "1e-6"])),
    "pair": pair,
    "record": lambda r: pair(r, adjacency="add_remove", with_record="P"),
    "finite": finite,
    "laplace": lambda r: Laplace(r.choice(["1", "2", "1/2"])),
    "exponential": lambda r: ExponentialMechanism(r.choice(["1", "1/2", "2"])),
}  # fmt: skip


def description(r, depth):
    """A random one, with operations up to `depth` deep; parts may contradict each other."""
    if depth == 0 or r.random() < 0.1:
        return LEAVES[r.choice(list(LEAVES))](r)
    below = lambda: description(r, depth - 1)  # noqa: E731
    return r.choice([
        lambda: below() + below(),
        lambda: below() + below(),
        lambda: r.choice([2, 3]) * below(),
        lambda: PoissonSubsample(below(), share(r)),
        lambda: PoissonSubsample(below(), share(r)),
        lambda: PoissonSubsample(below(), share(r), "replace_one"),
        lambda: SubsampleWithoutReplacement(below(), share(r)),
        lambda: SubsampleWithoutReplacement(below(), share(r)),
        lambda: SubsampleWithoutReplacement(below(), share(r), "add_remove"),
        lambda: SubsampleWithoutReplacement(sample_of_two_records(r), share(r)),
        lambda: Either(below(), below(), share(r)),
        lambda: GroupPrivacy(below(), 2),
        lambda: PostProcess(below()),
        lambda: RandomAllocation(below(), r.choice([2, 3])),
        lambda: RandomAllocation(below(), 3, 2, r.choice(["add_remove", "zero_out"])),
        lambda: PoissonSubsample(below(), share(r), "zero_out"),
        lambda: SubsampleWithoutReplacement(below(), share(r), "zero_out"),
        lambda: Failing(below(), r.choice(["1/10", "1/1000"])),
        lambda: Shuffled(LEAVES[r.choice(["response", "pure", "finite"])](r), r.choice([2, 3])),
        lambda: RepeatAndSelect(
            LEAVES[r.choice(["response", "finite", "record"])](r),
            r.choice([laws.Poisson(2), laws.Binomial(3, "1/2")]),
        ),
    ])()  # fmt: skip


def sample_of_two_records(r):
    """One whose worst laws, of three records, are others at each order, and a run beside it."""
    leaf = LEAVES[r.choice(["response", "pure", "finite"])](r)
    inner = r.choice([
        lambda: SubsampleWithoutReplacement(leaf, share(r)),
        lambda: PoissonSubsample(leaf, share(r), "replace_one"),
    ])()  # fmt: skip
    return r.choice([lambda: inner, lambda: 2 * inner, lambda: inner + RandomizedResponse("3/5")])()


def drawn(seed, depth=3):
    """The first description of this seed whose parts go together."""
    r = random.Random(seed)
    while True:
        try:
            return description(r, depth)
        except SymacctError:
            continue


FINE = ("right", "undecided", "no answer")


def findings(node, ask=verdicts, at=ORDERS, most=MOST_VALUES):
    """Counted verdicts, and those that are wrong: told in float64, confirmed at 50 digits."""
    counts, wrong = Counter(), []
    Engine.most = most
    for order in at:
        for name, word in ask(node, order, FLOATS).items():
            if word not in FINE:
                word = ask(node, order, NUMBERS)[name]
            counts[name, word] += 1
            if word not in FINE:
                wrong.append((name, order, word))
    return counts, wrong
