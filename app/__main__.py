"""``python -m app`` is ``plegscope``."""

import sys

from app.cli import main

sys.exit(main())
