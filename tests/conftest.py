"""One hypothesis profile for all tests: the same examples every time, no timing."""

from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "laws",
    deadline=None,
    derandomize=True,
    max_examples=6,
    # Shrinking a failing product of laws takes longer than reading it.
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("laws")
