"""The golden files of version 1.0 are never changed: each has the checksum that SHA256SUMS names, none is missing, and none is there that it does not name.

    sums.py

A later version that writes something new gets golden files of its own, in a folder beside 1.0/.
"""

import sys

import packed

MOST = 300_000  # bytes of all golden files


def main():
    named = packed.named()
    problems = [f"{name} has changed, or is gone" for name, digest in named.items()
                if not (packed.HERE / name).is_file() or packed.sum_of(packed.HERE / name) != digest]
    problems += [f"{name} is not in SHA256SUMS" for name in packed.there() if name not in named]
    size = sum((packed.HERE / name).stat().st_size for name in packed.there())
    if size > MOST:
        problems.append(f"the golden files have {size:,} bytes, more than {MOST:,}")
    print("\n".join(problems) or f"{len(named)} golden files are as they were")
    return 1 if problems or not named else 0


if __name__ == "__main__":
    sys.exit(main())
