"""``python -m cutscore``."""

import sys

from cutscore.cli import main

sys.exit(main())
