"""Small peers that misbehave, and how tests run them."""

import sys
import textwrap

HELLO = '{"id": 0, "peer": "p", "version": "1", "supports": [{"mechanism": "Gaussian"}]}'

LOOP = """
import json, os, sys, time
print('HELLO', flush=True)
sys.stdin.readline()
for line in sys.stdin:
    ask = json.loads(line)
    number, alpha = ask["id"], ask.get("alpha_float", 2.0)
    def say(row, number=number):
        print(json.dumps({"id": number, **row}), flush=True)
    sigma = ask["parts"][0]["sigma_float"]
    value = ask["parts"][0]["count"] * alpha / (2 * sigma * sigma)
BODY
"""


def program(folder, body, hello=HELLO):
    """A command for a peer that answers each ask by running `body`."""
    text = LOOP.replace("HELLO", hello).replace(
        "BODY", textwrap.indent(textwrap.dedent(body), "    ")
    )
    path = folder / "peer.py"
    path.write_text(text, encoding="utf-8")
    return [sys.executable, str(path)]
