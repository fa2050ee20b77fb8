"""Attack the package: rows, files, models, kills, closed streams, full disks and little memory.

    python validation/attack.py                    all of it: half an hour or more
    python validation/attack.py --share 0.01       a hundredth of each part
    python validation/attack.py --minutes 5        parts that are not done by then are cut short
    python validation/attack.py --only files --seed 7

Nothing may give a wrong number, crash, hang for 10 s, raise what is not ours, or leave a file that
the next run does not remove. Seeds are fixed where CI is set; otherwise they are random, and
printed. Inputs that broke something stay in ``build/attack``.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "validation")]

from attack_arrays import attack_arrays  # noqa: E402
from attack_commands import (  # noqa: E402
    attack_disks,
    attack_memory,
    attack_streams,
    attack_with_kills,
)
from attack_files import attack_files, attack_models  # noqa: E402

# Each with the number of inputs of a whole attack.
PARTS: dict[str, tuple[Callable[..., tuple[int, list[str]]], int]] = {
    "streams": (attack_streams, 56),
    "disks": (attack_disks, 40),
    "memory": (attack_memory, 40),
    "kills": (attack_with_kills, 300),
    "models": (attack_models, 5_000),
    "files": (attack_files, 50_000),
    "arrays": (attack_arrays, 1_000_000),
}


def main() -> int:
    """Run the parts that are asked for, and say what they found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--share", type=float, default=1.0, help="of the inputs of each part")
    parser.add_argument("--minutes", type=float, default=120.0, help="at most, for all parts")
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seed", type=int)
    parser.add_argument("--keep", type=Path, default=ROOT / "build" / "attack")
    asked = parser.parse_args()
    seed = asked.seed
    if seed is None:
        seed = 0 if "CI" in os.environ else secrets.randbelow(2**32)
    print(f"seed {seed}", flush=True)
    asked.keep.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + 60 * asked.minutes
    broken: list[str] = []
    for name in asked.only:
        attack, whole = PARTS[name]
        wanted, start = max(1, round(whole * asked.share)), time.monotonic()
        done, found = attack(seed, wanted, until, asked.keep)
        took = time.monotonic() - start
        print(f"{name}: {done:,} of {wanted:,} in {took:.0f} s, {len(found)} broken", flush=True)
        for one in found[:20]:
            print(f"  {one}", flush=True)
        broken += found
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
