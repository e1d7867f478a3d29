"""The lowest version of everything that setup.cfg allows, as requirements for pip."""

import configparser
import re
from pathlib import Path

EXTRAS = ("plot", "test")


def lowest():
    """`name==version` for each `name>=version…` that is needed to run and to test."""
    settings = configparser.ConfigParser()
    settings.read(Path(__file__).parents[1] / "setup.cfg", encoding="utf-8")
    lists = [settings["options"]["install_requires"]]
    lists += [settings["options.extras_require"][extra] for extra in EXTRAS]
    return [
        re.sub(r",.*", "", line).replace(">=", "==")
        for line in "\n".join(lists).splitlines()
        if line and not line.startswith("#")
    ]


if __name__ == "__main__":
    print("\n".join(lowest()))
