"""How moments fall far out, and what is left out there."""

import math
from types import SimpleNamespace

from flint import acb, arb

from tests.remainders.rows import at_least, known, mp, refused, row


@row("profile.losses.summed:the largest of a tail", "_highest", "second_moment_bound")
def the_largest_beyond(m):
    """Of parabolas that bend by as much as is said, and of moments that are attained."""

    def top(here, there, bent):
        x = min(1, max(0, (there - here + bent) / (2 * mp.mpf(bent))))  # where it is level
        return (1 - x) * here + x * there + x * (1 - x) * bent

    for here, there, bent in ((1, 2, 4), (1, 2, 1), (3, 1, 8), (2, 1, 0.5), (1, 1, 2), (1, 2, 1.5)):
        found = m._highest(arb(here), arb(there), arb(bent))
        yield found * arb(1, 1e-6), top(here, there, bent)
    h, mean = mp.mpf(0.5), mp.mpf(0.25)
    moments = [arb(3), arb(2), arb(5)]
    turn = mp.exp(h * mean)
    yield m.second_moment_bound(moments, 0.25, 0.5), (3 * turn + 5 / turn - 4) / h**2

    # A height that bends by 1 between its places, and is at most A + C/s.
    def walk(at, ends, moment=2.0, bend=1.0):
        ends = [(arb(a), arb(c)) for a, c in ends]
        return m.TransformOnLine(at, arb(moment), arb(bend), ends)

    falling = walk(lambda s: arb(1) / (1 + arb(s) / 4), [(0.0, 9.0)])
    found = falling.largest_beyond(4.0)
    yield at_least(found, 0.5)
    yield arb(int(found <= 0.6)), 1

    def hump(s):  # rises to 1 at 6, and bends by no more than 1/2 before it falls
        return (-((arb(s) - 6) ** 2) / 4).exp() + 0.125

    found = walk(hump, [(0.125, 30.0)], 2.0, 0.5).largest_beyond(4.0)
    yield at_least(found, 1.125)
    yield arb(int(found < 2)), 1
    flat = walk(lambda s: arb(2), [(2.0, 1.0)])  # never below the moment itself
    yield flat.largest_beyond(1.0), 2
    near = walk(lambda s: arb(1), [(0.5, 1.0)], 2.0, 1e9)  # too far to walk: what bounds it far out
    yield near.largest_beyond(2.0), 1


@row("profile.sums:gathered terms", "_gathered")
def terms_about_the_middles_of_cells(m):
    """By one moment to three of each cell, which leave much out at the farthest node."""
    places, weights = [0.0, 0.125, 1.0, 1.25, 1.375], [1.0, 2.0, -1.0, 3.0, 0.5]
    middles, ends = [arb(0.0625), arb(1.125)], [0, 2, 5]
    for moments, last, first, h in ((1, 2, 1, 1.0), (2, 3, 0, 0.5), (3, 6, 2, 0.25)):
        line = SimpleNamespace(h=h, first=first, last=last, nodes=range(first, last + 1))
        order = [1, 0, 4, 2, 3]
        cells = m.Cells(middles, order, ends, moments)
        terms = [arb(x) for x in weights], [arb(x) for x in places]
        for n, found in zip(line.nodes, m._gathered(*terms, line, cells), strict=True):
            turns = [w * mp.expj(n * h * x) for w, x in zip(weights, places, strict=True)]
            yield found.real, mp.re(mp.fsum(turns))
            yield found.imag, mp.im(mp.fsum(turns))
            off = 7.5 * (0.25 * h * last) ** moments / math.factorial(moments)
            yield at_least(found.real.rad(), off)
            yield arb(int(found.real.rad() < 1.01 * off)), 1


@row(
    "profile.contours:one contour",
    "_moved", "_left_alias", "_right_alias", "_log_right_alias", "_left_out", "_log_left_out",
    "log_chernoff", "delta", "_sum", "_untapered",
)  # fmt: skip
def what_a_contour_leaves_out(m):
    c, h, last = mp.mpf(1.5), mp.mpf(0.25), 3

    def contour(reverse=False, **plan):
        made = object.__new__(m.Contour)
        given = {"c": 1.5, "h": 0.25, "last": last, "lam": 2.25, "across": None, "taper": None}
        vars(made).update(plan=SimpleNamespace(**given | plan), reverse=reverse)
        return made

    # (h/π) Re Σ′ M(s)/(s(s+1)) e^{−sy}, half the first term.
    nodes = [mp.mpc(2, 0), mp.mpc(1, 1), mp.mpc(0.5, -1), mp.mpc(-0.25, 0.5)]
    one = contour()
    vars(one)["nodes"] = [acb(z.real, z.imag) for z in nodes]
    for y in (0.5, -1.25):
        terms = [z * mp.exp(-(c + 1j * n * h) * y) for n, z in enumerate(nodes)]
        total = mp.re(mp.fsum(terms) - terms[0] / 2) * h / mp.pi
        yield one._sum(arb(y)), total
        one.plan.taper = SimpleNamespace(
            first=2, exact_weights=lambda y: [arb(0.75), arb(0.25)], left_out=lambda y, k: y + k,
            order=3,
        )  # fmt: skip
        tapered = contour(taper=one.plan.taper)
        one.plan.taper = None
        vars(tapered)["nodes"] = one.nodes
        total -= mp.re(terms[2] / 4 + terms[3] * 3 / 4) * h / mp.pi
        yield tapered._sum(arb(y)), total
        yield tapered._left_out(arb(y)), h / mp.pi * mp.exp(-c * y) * (y + 3)
    for y in (0.5, 5.0):
        found = one._moved(arb(y, 0.125))
        truth = mp.mpf(0.125) * min(1, 2 * c * (c + 1) * mp.exp(-c * y))
        yield at_least(found, truth * mp.mpf(0.999))
        yield arb(int(found <= 0.125 * min(1.01, 8 * math.exp(0.1875 - 1.5 * y)))), 1
    one = contour()
    vars(one).update(_sum=known(arb(2)), _left_out=known(arb(0.125)), _left_alias=arb(0.25))
    vars(one).update(_right_alias=known(arb(0.0625)), _moved=known(arb(0.5)))
    for y, moved in ((arb(1), 0), (arb(1, 0.125), 0.5)):
        for end in (2.125 + moved, 1.5625 - moved):
            yield one.delta(y), end

    # What Poisson's summation adds to either side.
    yield contour()._left_alias, 1 / mp.expm1(2 * mp.pi * c / h)
    kept, m.log_chernoff = m.log_chernoff, lambda runs, lam, reverse: arb(lam) / 2 + 3 * reverse
    for reverse, across, y, lam in (
        (False, None, 0.5, 2.25), (True, None, -1.0, 2.25), (False, 1.75, 0.5, 2.25),
        (False, 1.75, -1.0, 1.75), (False, 1.75, 0.0, 2.25),
    ):  # fmt: skip
        one = contour(reverse, across=across)
        vars(one).update(_aliases={}, runs=())
        truth = lam / mp.mpf(2) + 3 * reverse - mp.log(mp.expm1(2 * mp.pi * (lam - c) / h))
        yield one._log_right_alias(lam), truth
        yield one._right_alias(arb(y)), mp.exp(truth - lam * y)
    m.log_chernoff = kept

    def part(place):
        return SimpleNamespace(
            terms=lambda line, need: 1,
            transform=lambda line, need: [acb(arb(line.a) + place)],
            decay=lambda a, t, slack: arb(a) + 2 * arb(t) + arb(slack) / 4 - place,
            largest=lambda reverse: arb(place + 2 * reverse),
        )

    runs = ((part(2), 3), (part(4), 1))
    apart = 2 * math.pi / 0.25
    for reverse, whole in ((False, 10), (True, 18)):  # no loss is beyond the largest
        one = contour(reverse, lam=math.inf)
        vars(one)["runs"] = runs
        yield one._right_alias(arb(whole - apart + 0.01)), 0
        yield refused(one._right_alias(arb(whole - apart - 0.01)))
    for reverse in (False, True):
        one = contour(reverse)
        vars(one)["runs"] = runs
        a = -1.5 if reverse else 2.5
        falls = [3 * (a + 2 + 1 / mp.mpf(48) - 2), a + 2 + 1 / mp.mpf(16) - 4]
        log_left = mp.fsum(falls) - mp.log(mp.pi * h * last)
        yield one._log_left_out, log_left
        yield one._left_out(arb(0.5)), mp.exp(log_left - c / 2)
        order = -2.25 if reverse else 3.25
        if not reverse:
            found = m.log_chernoff(runs, 2.25, reverse)
            log_moments = 3 * mp.log(order + 2) + mp.log(order + 4)
            constant = mp.mpf(2.25) * mp.log(2.25) - mp.mpf(3.25) * mp.log(3.25)
            yield found, log_moments + constant
    far = ((part(9), 1),)
    yield m.log_chernoff(far, 2.25, True), mp.log(6.75) + constant
    far[0][0].terms = lambda line, need: m._MOST_TERMS + 1
    yield refused(m.log_chernoff(far, 2.25, True))
