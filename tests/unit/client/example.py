"""The C example starts a collector, logs five epochs, and what it logged is in the store; a second time replaces it.

example.py LOG_RUN PORTOLAN
"""
import subprocess
import sys
import tempfile

log_run, portolan = sys.argv[1:]
with tempfile.TemporaryDirectory() as directory:
    for _ in range(2):
        subprocess.run([log_run, f"{directory}/store"], check=True)
        runs = subprocess.run([portolan, "runs", "--store", f"{directory}/store"], check=True, capture_output=True,
                              text=True).stdout
        assert "\nexample,1000,5,5000,closed,epoch-end," in runs, runs
    # The collector leaves by itself; until then the directory is its.
    subprocess.run(["flock", "--timeout", "30", f"{directory}/store/portoland.lock", "true"], check=True)
