"""Two hypothesis profiles: the same few examples every time, and new ones for the soak."""

from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "laws",
    deadline=None,
    derandomize=True,
    database=None,  # else each run of a test asks the settings of the run before, ever deeper
    max_examples=6,
    # Shrinking a failing product of laws takes longer than reading it.
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
# `--hypothesis-profile=soak --hypothesis-seed=N`, as `python -m tests.soak` runs it.
settings.register_profile(
    "soak", settings.get_profile("laws"), derandomize=False, database=None, max_examples=60
)
settings.load_profile("laws")
