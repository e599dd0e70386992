"""Writes files as C strings on standard output: NAME.gp, or of any other ending, as script_NAME."""

import os
import sys

for path in sys.argv[1:]:
    with open(path, "rb") as file:
        content = file.read()
    name = os.path.splitext(os.path.basename(path))[0]
    print(f"const char script_{name}[] = {{{', '.join(str(byte) for byte in content)}, 0}};")
