"""The bibliography: every work a claim may name, sliced from `sources.bib`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from symacct.kernel.claims import Source

#: The number of authors up to which all are named; of more the first one is, with et al. Only
#: citations rest on it.
_MOST_NAMED = 2


@dataclass(frozen=True)
class Work:
    """A published work, by its key, and its BibTeX entry as it stands in the file."""

    key: str
    entry: str

    def at(self, place: str) -> Source:
        """The Source that is a place in this work, e.g. `ZW19.at("Theorem 8")`."""
        return Source(self.key, place)

    def fields(self) -> dict[str, str]:
        """The entry's fields, in LaTeX."""
        return dict(re.findall(r"^  (\w+) = \{+(.*?)\}+,$", self.entry, re.MULTILINE))

    @property
    def title(self) -> str:
        """The title, as plain text."""
        return _plain(self.fields().get("title", ""))

    @property
    def named(self) -> str:
        """The authors and the year as plain text: "Zhu and Wang 2019", "Abadi et al. 2016".

        Of three authors and more the first is named alone. A body, as a company, is named in full.
        """
        fields = self.fields()
        if "author = {{" in self.entry:  # a body, which has no family name
            return f"{fields['author']} {fields['year']}"
        names = [_family_name(author) for author in fields["author"].split(" and ")]
        who = f"{names[0]} et al." if len(names) > _MOST_NAMED else " and ".join(names)
        return f"{_plain(who)} {fields['year']}"


def _family_name(author: str) -> str:
    """The last word of a name, with the words in small letters before it.

    >>> _family_name("Tim van Erven")
    'van Erven'
    """
    match = re.search(r"(?<!\S)(?:[a-z]+ )*\S+$", author)
    return match[0] if match else author


def _plain(tex: str) -> str:
    """What the LaTeX of an entry reads as."""
    from pylatexenc.latex2text import LatexNodes2Text  # to import it takes 10 ms

    return str(LatexNodes2Text().latex_to_text(tex))


def _sliced(text: str) -> dict[str, Work]:
    """The works of a BibTeX file by their keys."""
    entries = re.findall(r"^(@\w+\{(\w+),\n.*?^\}\n)", text, re.MULTILINE | re.DOTALL)
    return {key: Work(key, entry) for entry, key in entries}


#: The works of sources.bib by their keys.
WORKS = _sliced(Path(__file__).with_suffix(".bib").read_text(encoding="utf-8"))

#: The works that code cites, each by its key.
ACG16 = WORKS["ACG16"]
AKL21 = WORKS["AKL21"]
ALCKS21 = WORKS["ALCKS21"]
BBGHS20 = WORKS["BBGHS20"]
BDRS18 = WORKS["BDRS18"]
BEBP24 = WORKS["BEBP24"]
BLOG = WORKS["BLOG"]
BS16 = WORKS["BS16"]
BW18 = WORKS["BW18"]
CGK24 = WORKS["CGK24"]
CGM23 = WORKS["CGM23"]
CKS20 = WORKS["CKS20"]
DDR20 = WORKS["DDR20"]
DKM06 = WORKS["DKM06"]
DRS22 = WORKS["DRS22"]
DRV10 = WORKS["DRV10"]
FMT21 = WORKS["FMT21"]
FS25 = WORKS["FS25"]
GAL13 = WORKS["GAL13"]
KLS21 = WORKS["KLS21"]
KOV15 = WORKS["KOV15"]
MIR17 = WORKS["MIR17"]
MS20 = WORKS["MS20"]
MTZ19 = WORKS["MTZ19"]
PS22 = WORKS["PS22"]
S22 = WORKS["S22"]
SYMACCT = WORKS["SYMACCT"]
VEH14 = WORKS["VEH14"]
WBK19 = WORKS["WBK19"]
ZDW22 = WORKS["ZDW22"]
ZW19 = WORKS["ZW19"]
