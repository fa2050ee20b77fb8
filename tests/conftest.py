"""Settings of the tests. The profile `ci` makes hypothesis draw the same examples every time."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile("dev", deadline=None, max_examples=100)
settings.register_profile(
    "ci",
    deadline=None,
    max_examples=100,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],  # a busy runner is no bug
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if "CI" in os.environ else "dev"))

# Some tests limit how much a process may write. Python would leave half a .pyc file behind there.
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
