"""Running a command that must not hang: bounded in time, and nothing that it started outlives a timeout."""

import contextlib
import os
import signal
import subprocess
import tempfile

TIMED_OUT = 124


def run(command, *, seconds, capture=False, env=None, cwd=None, kill_rest=False):
    """Runs `command` and returns (exit status, output). The status is TIMED_OUT when it took longer than `seconds`; then it was killed
    with all processes of its group. The output, stdout and stderr together, is empty unless `capture`. `env` adds to the environment.
    `kill_rest`: what it leaves behind in its group is killed also when it ends by itself."""
    # Into a file, not a pipe: a daemon that the command leaves behind would keep a pipe open.
    with tempfile.TemporaryFile() as sink:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=os.environ | (env or {}),
            stdin=subprocess.DEVNULL,
            stdout=sink if capture else None,
            stderr=subprocess.STDOUT if capture else None,
            start_new_session=True,
        )
        try:
            status = process.wait(timeout=seconds)
            remark = ""
        except BaseException as interruption:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if not isinstance(interruption, subprocess.TimeoutExpired):
                raise
            status = TIMED_OUT
            remark = f"\nkilled after {seconds} s: {' '.join(map(str, command))}\n"
            if not capture:
                print(remark, flush=True)
        if kill_rest:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        sink.seek(0)
        return status, sink.read().decode(errors="replace") + remark
