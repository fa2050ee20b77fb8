"""``python -m cutpoint``."""

import sys

from cutpoint.cli import main

sys.exit(main())
