# /// script
# requires-python = ">=3.9"
# dependencies = ["autodp"]
#
# [tool.symacct]
# peers = ["autodp", "autodp-general"]
# ///
"""The peer autodp with its "improved" bounds, for worst-case pairs, or its general ones."""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("shared")))
import line_protocol as line

GENERAL = sys.argv[-1] == "autodp-general"  # its default for sampling
IMPORTS = [
    "import numpy as np",
    "from autodp import mechanism_zoo as zoo, transformer_zoo as transformers",
    "compose = transformers.Composition()",
]
CLASSES = {
    "Gaussian": ("ExactGaussianMechanism", {"sigma": "sigma"}),
    "Laplace": ("LaplaceMechanism", {"b": "b"}),
    "RandomizedResponse": ("RandresponseMechanism", {"p": "p"}),
    "PureDP": ("PureDP_Mechanism", {"eps": "epsilon"}),
    "ZCDP": ("zCDP_Mechanism", {"rho": "rho", "xi": "xi"}),
}
# What the documentation says is computed: (sampling, improved) → theorem at whole orders.
CLAIMS = {
    ("poisson", True): "ZW19-T8",
    ("poisson", False): "ZW19-T5",
    ("without_replacement", True): "WBK19-T27",
    ("without_replacement", False): "WBK19-T9",
}
MOST_REPEATS = 100  # runs composed one by one: more is unsupported, as it takes long
HOW = {
    **line.HOW,
    "count": ["number", "repeat", "nested", "split"],
    "nesting": ["flat", "left", "right"],
    "alpha": line.NUMBERS,
    "sharing": ["copied", "shared"],
}
LAST: dict = {}  # the mechanism built last, for sweeps over its orders


class Build:
    """Builds mechanisms of the peer, and records the lines that build them."""

    def __init__(self, how):
        from autodp import mechanism_zoo, transformer_zoo

        self.how, self.zoo, self.transformers = how, mechanism_zoo, transformer_zoo
        self.lines = list(IMPORTS)
        self.names = 0

    def keep(self, mechanism, source):
        """Returns (mechanism, a new name), and adds the line that gives it that name."""
        self.names += 1
        self.lines.append(f"m{self.names} = {source}")
        return mechanism, f"m{self.names}"

    def run(self, part, adjacency):
        """Builds one run of a part."""
        kind, fields = CLASSES[part["mechanism"]]
        values = {key: line.number(part, name, self.how) for key, name in fields.items()}
        shown = ", ".join(f"{key}={value!r}" for key, value in values.items())
        mechanism = getattr(self.zoo, kind)(**values)
        named = self.keep(mechanism, f"zoo.{kind}({shown})")
        if part["sampling"] == "none":
            return named
        poisson = part["sampling"] == "poisson"
        if adjacency == "replace_one":
            mechanism.neighboring = "replace_one"
            self.lines.append(f"{named[1]}.neighboring = 'replace_one'")
        gamma, improved = line.number(part, "gamma", self.how), not GENERAL
        flag = ", improved_bound_flag=True" if improved else ""
        source = f"transformers.AmplificationBySampling(PoissonSampling={poisson})"
        sample = self.transformers.AmplificationBySampling(PoissonSampling=poisson)
        sampled = sample(mechanism, gamma, improved_bound_flag=improved)
        return self.keep(sampled, f"{source}({named[1]}, {gamma!r}{flag})")

    def compose(self, named, counts):
        """The peer's composition of mechanisms with their counts."""
        mechanisms = [mechanism for mechanism, _ in named]
        names = ", ".join(name for _, name in named)
        composed = self.transformers.Composition()(mechanisms, list(counts))
        return self.keep(composed, f"compose([{names}], {list(counts)!r})")

    def part(self, part, adjacency):
        """(mechanisms, counts) of a part, written as the ask has it."""
        named = self.run(part, adjacency)
        if self.how.get("count") == "nested":
            inner, outer = line.nested(part["count"])
            return [self.compose([named], [inner])], [outer]
        shares = line.counts(part["count"], self.how, MOST_REPEATS)
        same = self.how.get("sharing") == "shared" or self.how.get("count") == "split"
        return [named, *(named if same else self.run(part, adjacency) for _ in shares[1:])], shares

    def whole(self, ask):
        """Builds the composition of a question in the nesting that it names."""
        rows = [self.part(part, ask["adjacency"]) for part in line.parts_of(ask)]
        way = self.how.get("nesting", "flat")
        if way == "flat":
            named = [m for mechanisms, _ in rows for m in mechanisms]
            return self.compose(named, [n for _, counts in rows for n in counts])
        alone = [self.compose(mechanisms, counts) for mechanisms, counts in rows]
        while len(alone) > 1:
            if way == "left":
                alone[:2] = [self.compose(alone[:2], [1, 1])]
            else:
                alone[-2:] = [self.compose(alone[-2:], [1, 1])]
        return alone[0]


def built(ask):
    """(the composition, its name, the lines); the last one is kept for the orders that follow."""
    if ask["how"].get("after") or set(ask["how"]) - {"alpha"}:
        return construct(ask)
    key = json.dumps([ask["parts"], ask["adjacency"]])
    if key not in LAST:
        LAST.clear()
        LAST[key] = construct(ask)
    return LAST[key]


def construct(ask):
    """Builds (the composition, its name, the lines) anew."""
    build = Build(ask["how"])
    mechanism, name = build.whole(ask)
    return mechanism, name, build.lines


def answer(ask):
    """Computes the value of a question by the peer, with the lines that reproduce it."""
    begun = time.perf_counter()
    mechanism, name, lines = built(ask)
    at = {"rdp": "alpha", "epsilon": "delta", "delta": "epsilon"}[ask["ask"]]
    target = line.order(ask) if at == "alpha" else ask[at + "_float"]
    question = {"rdp": "get_RDP", "epsilon": "get_approxDP", "delta": "get_approx_delta"}[
        ask["ask"]
    ]
    way = ask["how"].get("after")
    if way == "asked":
        mechanism.get_RDP(3.5), mechanism.get_approxDP(1e-3)
    for _ in range(2 if way == "twice" else 1):
        value = getattr(mechanism, question)(target)
    lines = [*lines, f"print({name}.{question}({target!r}))"]
    return line.answered(value, begun, lines, **claimed(ask, mechanism))


def claimed(ask, mechanism):
    """Names the theorem of the documentation, unless a part has a smaller value than that.

    That is the value of the part without its sampling, or of the part at the order ∞.
    """
    samplings = {part["sampling"] for part in ask["parts"]}
    alpha = ask.get("alpha_float")
    if len(samplings) > 1 or samplings == {"none"} or alpha is None:
        return {}
    if not float(alpha).is_integer():
        return {}
    for part in ask["parts"]:
        base = Build({}).whole({**ask, "parts": [{**part, "sampling": "none"}]})[0]
        alone = len(ask["parts"]) == 1
        sampled = mechanism if alone else Build({}).whole({**ask, "parts": [part]})[0]
        smaller = min(base.get_RDP(alpha), sampled.get_RDP(math.inf))
        if sampled.get_RDP(alpha) >= smaller * (1 - 1e-12):
            return {}
    return {"claims": CLAIMS[samplings.pop(), not GENERAL]}


def hello():
    """Who computes, and what may be asked; imports the peer, so that no answer is slow for that."""
    import autodp.transformer_zoo  # noqa: F401

    kinds = [] if GENERAL else [(kind, "none", "add_remove") for kind in CLASSES]
    for kind in CLASSES if GENERAL else ("Gaussian", "Laplace", "RandomizedResponse"):
        kinds += [(kind, "poisson", "add_remove"), (kind, "without_replacement", "replace_one")]
    peer = "autodp (general bounds)" if GENERAL else "autodp"
    asks = ["rdp", "epsilon", "delta"]
    return line.hello_of("autodp", kinds, asks, peer=peer, default_orders="real", how=HOW)


if __name__ == "__main__":
    line.speak(("autodp", hello, answer), ("autodp-general", hello, answer))
