"""How hypothesis runs here: no deadline per example, and the same examples each time in CI."""

import os

from hypothesis import HealthCheck, settings

IN_CI = os.environ.get("CI", "").lower() in {"1", "true", "yes"}

settings.register_profile(
    "engine",
    deadline=None,
    derandomize=IN_CI,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("engine")
