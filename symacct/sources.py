"""The bibliography: every work a claim may name, with what a reference list needs of it."""

from __future__ import annotations

from dataclasses import dataclass

from symacct.claims import Source


@dataclass(frozen=True)
class Work:
    """A published work, by its key.

    `entry` is BibTeX's type, `venue` the proceedings or the journal; a work that is in neither
    ("misc") is found by `eprint`, its arXiv number, or by `url`. What does not apply is empty.
    """

    key: str
    authors: str
    title: str
    venue: str
    year: int
    entry: str = "inproceedings"
    volume: str = ""
    number: str = ""
    pages: str = ""
    doi: str = ""
    eprint: str = ""
    url: str = ""

    def at(self, place: str) -> Source:
        """A place in this work, e.g. `ZW19.at("Theorem 8")`."""
        return Source(self.key, place)


ZW19 = Work(
    "ZW19",
    "Yuqing Zhu and Yu-Xiang Wang",
    "Poisson Subsampled Rényi Differential Privacy",
    "International Conference on Machine Learning",
    2019,
    volume="97",
    pages="7634--7642",
    url="https://proceedings.mlr.press/v97/zhu19c.html",
)
WBK19 = Work(
    "WBK19",
    "Yu-Xiang Wang and Borja Balle and Shiva Prasad Kasiviswanathan",
    "Subsampled Rényi Differential Privacy and Analytical Moments Accountant",
    "International Conference on Artificial Intelligence and Statistics",
    2019,
    volume="89",
    pages="1226--1235",
    eprint="1808.00087",
    url="https://proceedings.mlr.press/v89/wang19b.html",
)
MTZ19 = Work(
    "MTZ19",
    "Ilya Mironov and Kunal Talwar and Li Zhang",
    "Rényi Differential Privacy of the Sampled Gaussian Mechanism",
    "arXiv",
    2019,
    entry="misc",
    eprint="1908.10530",
)
BLOG = Work(
    "BLOG",
    "Yuchen Pei",
    "Great but Manageable Expectations",
    "blog post, 14 March 2019",
    2019,
    entry="misc",
    url="https://ypei.me/posts/2019-03-14-great-but-manageable-expectations.html",
)
MIR17 = Work(
    "MIR17",
    "Ilya Mironov",
    "Rényi Differential Privacy",
    "IEEE Computer Security Foundations Symposium",
    2017,
    pages="263--275",
    doi="10.1109/CSF.2017.11",
    eprint="1702.07476",
)
BS16 = Work(
    "BS16",
    "Mark Bun and Thomas Steinke",
    "Concentrated Differential Privacy: Simplifications, Extensions, and Lower Bounds",
    "Theory of Cryptography Conference",
    2016,
    pages="635--658",
    doi="10.1007/978-3-662-53641-4_24",
    eprint="1605.02065",
)
BDRS18 = Work(
    "BDRS18",
    "Mark Bun and Cynthia Dwork and Guy N. Rothblum and Thomas Steinke",
    "Composable and Versatile Privacy via Truncated CDP",
    "ACM Symposium on Theory of Computing",
    2018,
    pages="74--86",
    doi="10.1145/3188745.3188946",
)
KOV15 = Work(
    "KOV15",
    "Peter Kairouz and Sewoong Oh and Pramod Viswanath",
    "The Composition Theorem for Differential Privacy",
    "International Conference on Machine Learning",
    2015,
    volume="37",
    pages="1376--1385",
    eprint="1311.0776",
    url="https://proceedings.mlr.press/v37/kairouz15.html",
)
VEH14 = Work(
    "VEH14",
    "Tim van Erven and Peter Harremoës",
    "Rényi Divergence and Kullback-Leibler Divergence",
    "IEEE Transactions on Information Theory",
    2014,
    entry="article",
    volume="60",
    number="7",
    pages="3797--3820",
    doi="10.1109/TIT.2014.2320500",
    eprint="1206.2459",
)
ACG16 = Work(
    "ACG16",
    "Martín Abadi and Andy Chu and Ian Goodfellow and H. Brendan McMahan and Ilya Mironov and "
    "Kunal Talwar and Li Zhang",
    "Deep Learning with Differential Privacy",
    "ACM Conference on Computer and Communications Security",
    2016,
    pages="308--318",
    doi="10.1145/2976749.2978318",
    eprint="1607.00133",
)
S22 = Work(
    "S22",
    "Thomas Steinke",
    "Composition of Differential Privacy & Privacy Amplification by Subsampling",
    "arXiv",
    2022,
    entry="misc",
    eprint="2210.00597",
)
ALCKS21 = Work(
    "ALCKS21",
    "Shahab Asoodeh and Jiachun Liao and Flavio P. Calmon and Oliver Kosut and Lalitha Sankar",
    "Three Variants of Differential Privacy: Lossless Conversion and Applications",
    "IEEE Journal on Selected Areas in Information Theory",
    2021,
    entry="article",
    volume="2",
    number="1",
    pages="208--222",
    doi="10.1109/JSAIT.2021.3054692",
    eprint="2008.06529",
)
DKM06 = Work(
    "DKM06",
    "Cynthia Dwork and Krishnaram Kenthapadi and Frank McSherry and Ilya Mironov and Moni Naor",
    "Our Data, Ourselves: Privacy via Distributed Noise Generation",
    "Advances in Cryptology (EUROCRYPT)",
    2006,
    pages="486--503",
    doi="10.1007/11761679_29",
)
DRV10 = Work(
    "DRV10",
    "Cynthia Dwork and Guy N. Rothblum and Salil Vadhan",
    "Boosting and Differential Privacy",
    "IEEE Symposium on Foundations of Computer Science",
    2010,
    pages="51--60",
    doi="10.1109/FOCS.2010.12",
)
BW18 = Work(
    "BW18",
    "Borja Balle and Yu-Xiang Wang",
    "Improving the Gaussian Mechanism for Differential Privacy: Analytical Calibration and "
    "Optimal Denoising",
    "International Conference on Machine Learning",
    2018,
    volume="80",
    pages="394--403",
    eprint="1805.06530",
)
BBGHS20 = Work(
    "BBGHS20",
    "Borja Balle and Gilles Barthe and Marco Gaboardi and Justin Hsu and Tetsuya Sato",
    "Hypothesis Testing Interpretations and Rényi Differential Privacy",
    "International Conference on Artificial Intelligence and Statistics",
    2020,
    volume="108",
    pages="2496--2506",
    eprint="1905.09982",
    url="https://proceedings.mlr.press/v108/balle20a.html",
)
CKS20 = Work(
    "CKS20",
    "Clément Canonne and Gautam Kamath and Thomas Steinke",
    "The Discrete Gaussian for Differential Privacy",
    "Advances in Neural Information Processing Systems",
    2020,
    volume="33",
    pages="15676--15688",
    eprint="2004.00010",
)
GAL13 = Work(
    "GAL13",
    "Manuel Gil and Fady Alajaji and Tamás Linder",
    "Rényi Divergence Measures for Commonly Used Univariate Continuous Distributions",
    "Information Sciences",
    2013,
    entry="article",
    volume="249",
    pages="124--131",
    doi="10.1016/j.ins.2013.06.018",
)
ZDW22 = Work(
    "ZDW22",
    "Yuqing Zhu and Jinshuo Dong and Yu-Xiang Wang",
    "Optimal Accounting of Differential Privacy via Characteristic Function",
    "International Conference on Artificial Intelligence and Statistics",
    2022,
    volume="151",
    pages="4782--4817",
    eprint="2106.08567",
    url="https://proceedings.mlr.press/v151/zhu22c.html",
)

WORKS: dict[str, Work] = {
    work.key: work for work in tuple(globals().values()) if isinstance(work, Work)
}
