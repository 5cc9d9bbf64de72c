"""python3 -m sinew_msggen"""

import sys

from .cli import main

sys.exit(main())
