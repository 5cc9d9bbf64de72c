"""The robot of the demo, running for those who look at it with the command `sinew`."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

PATIENCE = 60
# The demo ends by itself after so long a time, should nobody be left who ends it.
SECONDS = 600


def eventually(condition, what, until_s=PATIENCE):
    """The first true value of it. The time only bounds a hang."""
    until = time.monotonic() + until_s
    while not (value := condition()):
        if time.monotonic() > until:
            raise TimeoutError(f"{what} did not come to be within {until_s} s")
        time.sleep(0.05)
    return value


@contextlib.contextmanager
def running(demo, data, sinew):
    """Gives the path of the domain of the program `demo`, as soon as `sinew` sees all of it connected and every topic flow."""
    with tempfile.TemporaryDirectory() as folder:
        printed = pathlib.Path(folder) / "printed"
        with open(printed, "wb") as sink:
            process = subprocess.Popen(
                [demo, "--data", data, "--seconds", str(SECONDS), "--picture", f"{folder}/frame.png"],
                env=os.environ | {"TMPDIR": folder}, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink)

        def domain():
            if process.poll() is not None:
                raise ChildProcessError(f"the demo ended with status {process.returncode}:\n{printed.read_text(errors='replace')}")
            return next((str(path) for path in pathlib.Path(folder).glob("sinew-demo-*/domain")), None)

        try:
            eventually(lambda: domain() and flows(sinew, domain()), "a demo in which everything flows")
            yield domain()
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(PATIENCE)
            finally:
                process.kill()


def flows(sinew, domain):
    asked = subprocess.run([sinew, "--domain", domain, "graph", "--json", "--interval", "500ms"], capture_output=True, timeout=PATIENCE)
    told = json.loads(asked.stdout) if asked.returncode == 0 else {"nodes": []}
    return len(told["nodes"]) == 7 and all(edge["delivery"] and edge["hz"] > 0 for edge in told["edges"])
