"""``python -m portolan``: what the package does as a command."""

import sys

from portolan._exporting._command import main

sys.exit(main())
