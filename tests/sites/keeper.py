"""Runs a program until standard input ends, then ends it with all that it has started.

So it never outlives whoever asked for it, however that came to its end.
"""

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

_END_SECONDS = 10.0


def main() -> int:
    program = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True)

    def keep() -> None:
        sys.stdin.buffer.read()
        for how in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(program.pid, how)
            with suppress(subprocess.TimeoutExpired):
                program.wait(_END_SECONDS)

    keeping = threading.Thread(target=keep, daemon=True)
    keeping.start()
    code = program.wait()
    keeping.join(0 if code >= 0 else _END_SECONDS)
    return code


if __name__ == "__main__":
    sys.exit(main())
