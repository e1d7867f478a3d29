"""Certified expectations E_Q[(1−γ+γP/Q)^α] of known pairs. No privacy in here."""
