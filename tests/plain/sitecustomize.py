"""For processes of tests: LightGBM is not installed."""

import sys

sys.modules["lightgbm"] = None  # type: ignore[assignment]
