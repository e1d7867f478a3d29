"""Laplace noise: P = (1−γ)Q + γ·Lap(s) against Q = Lap(0), of scale 1, s = Δ/b.

Under Q the noise is below 0 with probability ½ and above s with e^{−s}/2: two atoms of the loss;
between them R(x) = 1−γ+γe^{2x−s} rises (docs/proofs.md, section 14).
"""
