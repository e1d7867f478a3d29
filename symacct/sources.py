"""The bibliography: every work a claim may name."""

from __future__ import annotations

from dataclasses import dataclass

from symacct.claims import Source


@dataclass(frozen=True)
class Work:
    """A published work, by its key."""

    key: str
    authors: str
    title: str
    venue: str
    year: int

    def at(self, place: str) -> Source:
        """A place in this work, e.g. `ZW19.at("Theorem 8")`."""
        return Source(self.key, place)


ZW19 = Work(
    "ZW19",
    "Yuqing Zhu and Yu-Xiang Wang",
    "Poisson Subsampled Rényi Differential Privacy",
    "International Conference on Machine Learning",
    2019,
)
WBK19 = Work(
    "WBK19",
    "Yu-Xiang Wang and Borja Balle and Shiva Prasad Kasiviswanathan",
    "Subsampled Rényi Differential Privacy and Analytical Moments Accountant",
    "International Conference on Artificial Intelligence and Statistics",
    2019,
)
MTZ19 = Work(
    "MTZ19",
    "Ilya Mironov and Kunal Talwar and Li Zhang",
    "Rényi Differential Privacy of the Sampled Gaussian Mechanism",
    "arXiv:1908.10530",
    2019,
)
BLOG = Work(
    "BLOG",
    "Yuchen Pei",
    "Great but Manageable Expectations",
    "blog post, 14 March 2019",
    2019,
)
MIR17 = Work(
    "MIR17",
    "Ilya Mironov",
    "Rényi Differential Privacy",
    "IEEE Computer Security Foundations Symposium",
    2017,
)
BS16 = Work(
    "BS16",
    "Mark Bun and Thomas Steinke",
    "Concentrated Differential Privacy: Simplifications, Extensions, and Lower Bounds",
    "Theory of Cryptography Conference",
    2016,
)
BDRS18 = Work(
    "BDRS18",
    "Mark Bun and Cynthia Dwork and Guy N. Rothblum and Thomas Steinke",
    "Composable and Versatile Privacy via Truncated CDP",
    "ACM Symposium on Theory of Computing",
    2018,
)
KOV15 = Work(
    "KOV15",
    "Peter Kairouz and Sewoong Oh and Pramod Viswanath",
    "The Composition Theorem for Differential Privacy",
    "International Conference on Machine Learning",
    2015,
)
VEH14 = Work(
    "VEH14",
    "Tim van Erven and Peter Harremoës",
    "Rényi Divergence and Kullback-Leibler Divergence",
    "IEEE Transactions on Information Theory 60(7)",
    2014,
)
ACG16 = Work(
    "ACG16",
    "Martín Abadi and Andy Chu and Ian Goodfellow and H. Brendan McMahan and Ilya Mironov and "
    "Kunal Talwar and Li Zhang",
    "Deep Learning with Differential Privacy",
    "ACM Conference on Computer and Communications Security",
    2016,
)
S22 = Work(
    "S22",
    "Thomas Steinke",
    "Composition of Differential Privacy & Privacy Amplification by Subsampling",
    "arXiv:2210.00597",
    2022,
)
ALCKS21 = Work(
    "ALCKS21",
    "Shahab Asoodeh and Jiachun Liao and Flavio P. Calmon and Oliver Kosut and Lalitha Sankar",
    "Three Variants of Differential Privacy: Lossless Conversion and Applications",
    "IEEE Journal on Selected Areas in Information Theory 2(1)",
    2021,
)
DKM06 = Work(
    "DKM06",
    "Cynthia Dwork and Krishnaram Kenthapadi and Frank McSherry and Ilya Mironov and Moni Naor",
    "Our Data, Ourselves: Privacy via Distributed Noise Generation",
    "Advances in Cryptology (EUROCRYPT)",
    2006,
)
DRV10 = Work(
    "DRV10",
    "Cynthia Dwork and Guy N. Rothblum and Salil Vadhan",
    "Boosting and Differential Privacy",
    "IEEE Symposium on Foundations of Computer Science",
    2010,
)
BW18 = Work(
    "BW18",
    "Borja Balle and Yu-Xiang Wang",
    "Improving the Gaussian Mechanism for Differential Privacy: Analytical Calibration and "
    "Optimal Denoising",
    "International Conference on Machine Learning",
    2018,
)
BBGHS20 = Work(
    "BBGHS20",
    "Borja Balle and Gilles Barthe and Marco Gaboardi and Justin Hsu and Tetsuya Sato",
    "Hypothesis Testing Interpretations and Rényi Differential Privacy",
    "International Conference on Artificial Intelligence and Statistics",
    2020,
)
CKS20 = Work(
    "CKS20",
    "Clément Canonne and Gautam Kamath and Thomas Steinke",
    "The Discrete Gaussian for Differential Privacy",
    "Advances in Neural Information Processing Systems",
    2020,
)
GAL13 = Work(
    "GAL13",
    "Manuel Gil and Fady Alajaji and Tamás Linder",
    "Rényi Divergence Measures for Commonly Used Univariate Continuous Distributions",
    "Information Sciences 249",
    2013,
)
