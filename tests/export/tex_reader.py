"""Our LaTeX read back as numbers: a small evaluator of the printed formula, in mpmath.

    sum = ["-"] product { ("+" | "-") product }      product = factor { ["·"] factor | "/" factor }
    factor = atom { "^" group | "!" | "!!" }         Σ and ∫ take the product that follows

It knows nothing of symacct: what it reads is what a reader of the paper reads.
"""

import re

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+|[^\s]")
IGNORED = {r"\left", r"\right", r"\biggl", r"\biggr", r"\quad", r"\qquad", r"\;", r"\mathcal"}
CLOSING = {"(": ")", r"\{": r"\}", "{": "}", r"\lfloor": r"\rfloor"}
STOPS = {
    *CLOSING.values(),
    "&",
    "+",
    "-",
    ",",
    "",
    r"\,",
    "=",
    "<",
    r"\leq",
    r"\approx",
    ">",
    r"\geq",
    r"\end",
    r"\\",
}


class Display:
    """The equations of an align environment: each left side with its right sides and orders."""

    def __init__(self, mp, tex):
        self.mp = mp
        body = tex.removeprefix("\\begin{align*}\n").removesuffix("\n\\end{align*}")
        rows = []
        for line in body.split(" \\\\\n"):
            if line.startswith("&"):
                rows[-1] += line.removeprefix("&")
            else:
                rows.append(line)
        self.equations = [self.equation(row) for row in rows]

    def equation(self, row):
        left, right = row.split(" &", 1)
        relation, right = re.fullmatch(r"(=|\\leq|\\geq|\\approx|) ?(.*)", right).groups()
        right, _, orders = right.partition(r"\qquad \text{for }")
        return left, relation, right, orders.strip()

    def value(self, values, alpha, name=r"\epsilon_{\mathcal{M}}"):
        """The right side for this order, the symbols of the formula as the table says."""
        for left, _, right, orders in self.equations:
            found = re.fullmatch(rf"({re.escape(name)})(\(.*\)|\\left\(.*\\right\))", left)
            if found is None:
                continue
            reader = Reader(self, right)
            argument = tuple(TOKEN.findall(found[2].replace(r"\left", "").replace(r"\right", "")))[
                1:-1
            ]
            env = {**values, r"\alpha": alpha}
            if len(argument) == 1 and not argument[0].isdigit() and argument[0] != r"\infty":
                env[argument[0]] = alpha
            elif Reader(self, " ".join(argument)).read()(env) != alpha:
                continue
            if not orders or self.holds(orders, alpha):
                return reader.read()(env)
        raise AssertionError(f"no equation for {name} at {alpha}")

    def holds(self, orders, alpha):
        """Is α among the orders that an equation or a case is for?"""
        if orders == r"\alpha = 2, 3, \dots":
            return 2 <= alpha < self.mp.inf and alpha == int(alpha)
        if orders == r"\alpha = \infty":
            return alpha == self.mp.inf
        assert orders in (r"\text{other } \alpha > 1", r"1 < \alpha < \infty"), orders
        return 1 < alpha < self.mp.inf


class Reader:
    """Recursive descent; each method gives back a function of the symbols' values."""

    def __init__(self, display, tex):
        self.display, self.mp = display, display.mp
        self.tokens = [t for t in TOKEN.findall(tex) if t not in IGNORED] + [""]

    @property
    def ahead(self):
        return self.tokens[0]

    def take(self, *wanted):
        if wanted and self.ahead not in wanted:
            raise AssertionError(f"found {self.tokens[:8]}, needed {wanted}")
        return self.tokens.pop(0)

    def read(self):
        found = self.sum()
        self.take("")
        return found

    def sum(self):
        parts = []
        sign = -1 if self.ahead == "-" and self.take() else 1
        parts.append((sign, self.product()))
        while self.ahead in ("+", "-"):
            sign = 1 if self.take() == "+" else -1
            parts.append((sign, self.product()))
        return lambda env: self.mp.fsum(sign * part(env) for sign, part in parts)

    def product(self):
        value = self.factor()
        while self.ahead not in STOPS and self.ahead != "d":
            operator = self.take() if self.ahead in ("/", r"\cdot") else "*"
            value = self.combined(operator, value, self.factor())
        return value

    def combined(self, operator, left, right):
        if operator == "/":
            return lambda env: left(env) / right(env)
        return lambda env: left(env) * right(env)

    def factor(self):
        value = self.atom()
        while self.ahead in ("^", "!"):
            value = self.raised(value)
        return value

    def raised(self, value):
        if self.take() == "^":
            exponent = self.group()
            return lambda env: value(env) ** exponent(env)
        if self.ahead == "!":
            self.take()
            return lambda env: self.mp.fac2(value(env))
        return lambda env: self.mp.factorial(value(env))

    def group(self):
        self.take("{")
        inside = self.sum()
        self.take("}")
        return inside

    def bracket(self):
        opening = self.take(*CLOSING)
        inside = self.sum()
        self.take(CLOSING[opening])
        return inside

    def atom(self):
        piece = self.ahead
        if piece.isdigit():
            number = self.mp.mpf(int(self.take()))
            return lambda env: number
        if piece in CLOSING:
            return self.enclosed(piece)
        if piece == "|":
            self.take()
            inside = self.group()
            self.take("|")
            return lambda env: abs(inside(env))
        if piece in (r"\epsilon", "B") and self.tokens[1] == "_":
            return self.function(self.take())
        method = getattr(self, f"read_{piece.lstrip(chr(92))}", None) if piece[0] == "\\" else None
        self.take()
        if method is not None:
            return method()
        if piece == "e" and self.ahead == "^":
            return lambda env: self.mp.e
        if piece == "I" and self.ahead == "_":
            return self.bessel()
        return lambda env: env[piece]

    def bessel(self):
        self.take("_")
        order, at = self.group(), self.bracket()
        return lambda env: self.mp.besseli(abs(order(env)), at(env))

    def enclosed(self, opening):
        inside = self.bracket()
        if opening == r"\lfloor":
            return lambda env: self.mp.floor(inside(env))
        return inside

    def function(self, letter):
        self.take("_")
        self.take("{")
        inside = []
        while self.ahead != "}":
            inside.append(self.take())
        self.take("}")
        name = rf"{letter}_{{{''.join(inside)}}}"
        name = name.replace("{{M}}", r"{\mathcal{M}}")
        at = self.bracket()

        def value(env):
            symbols = {k: v for k, v in env.items() if k not in ("l", "j", "i", "k", "z")}
            return self.display.value(symbols, at(env), name)

        return value

    def read_infty(self):
        return lambda env: self.mp.inf

    def read_pi(self):
        return lambda env: +self.mp.pi

    def read_log(self):
        inside = self.bracket()
        return lambda env: self.mp.log(inside(env))

    def read_exp(self):
        inside = self.bracket()
        return lambda env: self.mp.exp(inside(env))

    def read_sqrt(self):
        inside = self.group()
        return lambda env: self.mp.sqrt(inside(env))

    def read_frac(self):
        over, under = self.group(), self.group()
        return lambda env: over(env) / under(env)

    def read_binom(self):
        over, under = self.group(), self.group()
        return lambda env: self.mp.binomial(over(env), under(env))

    def read_min(self, choose=min):
        self.take(r"\{")
        parts = [self.sum()]
        while self.take(",", r"\}") == ",":
            while self.ahead == r"\,":
                self.take()
            parts.append(self.sum())
        return lambda env: choose(part(env) for part in parts)

    def read_max(self):
        return self.read_min(max)

    def read_sum(self):
        self.take("_")
        self.take("{")
        index = self.take()
        self.take("=")
        first = self.sum()
        self.take("}")
        self.take("^")
        last, term = self.group(), self.product()

        def value(env):
            start, end = first(env), last(env)
            start = -250 if start == -self.mp.inf else start
            end = max(start, 0) + 250 if end == self.mp.inf else end
            orders = range(int(start), int(end) + 1)
            return self.mp.fsum(term({**env, index: self.mp.mpf(l)}) for l in orders)

        return value

    def read_int(self):
        self.take("_")
        low = self.group()
        self.take("^")
        high, term = self.group(), self.product()
        self.take(r"\,")
        self.take("d")
        variable = self.take()

        def value(env):
            def at(z):
                return term({**env, variable: z})

            ends = [low(env), high(env)]
            if ends[0] == -self.mp.inf:  # by the trapezoidal rule, as tests/symbolic.py does
                return self.mp.fsum(at(self.mp.mpf(k) / 8) for k in range(-480, 481)) / 8
            if ends[1] == self.mp.inf:
                ends = [ends[0], *range(4 * int(self.mp.floor(ends[0] / 4)) + 4, 41, 4)]
            return self.mp.quad(at, ends)

        return value

    def read_begin(self):
        """cases: the first whose condition holds."""
        for expected in "{cases}":
            self.take(expected)
        cases = []
        while self.ahead != r"\end":
            value = self.sum()
            cases.append((value, self.condition()))
            if self.ahead == r"\\":
                self.take()
        self.take(r"\end")
        for expected in "{cases}":
            self.take(expected)
        return lambda env: next(value(env) for value, holds in cases if holds(env))

    def condition(self):
        words = []
        self.take("&")
        while self.ahead not in (r"\\", r"\end"):
            words.append(self.take())
        text = " ".join(words)
        if "o t h e r w i s e" in text:
            return lambda env: True
        if r"\dots" in text or "o t h e r" in text or r"\infty" in text:
            whole = {r"\alpha = 2 , 3 , \dots": r"\alpha = 2, 3, \dots",
                     r"\text { o t h e r } \alpha > 1": r"\text{other } \alpha > 1"}  # fmt: skip
            return lambda env: self.display.holds(whole.get(text, text), env[r"\alpha"])
        left, sign, right = re.split(r" (<|\\leq|>|\\geq) ", text)
        sides = [Reader(self.display, side).read() for side in (left, right)]
        tests = {"<": lambda a, b: a < b, r"\leq": lambda a, b: a <= b,
                 ">": lambda a, b: a > b, r"\geq": lambda a, b: a >= b}  # fmt: skip
        return lambda env: tests[sign](*(side(env) for side in sides))
