"""nginx before a server, as the live page's README says it is to be: its text stands there, and ports and paths are filled in here."""

import contextlib
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "analyzer/serve/README.md"
NAME, PREFIX = "lab.example.org", "/portolan"  # the page's own
PATIENCE = 60  # seconds
# What nginx needs beside a site to run in a folder of its own, as any user.
AROUND = """
{user}daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
events {{}}
http {{
    access_log {folder}/access.log;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{sites}
}}
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def public_url(port, prefix):
    return f"https://{NAME}:{port}{prefix}"


class Nginx:
    """nginx in a folder, with a certificate of its own, until end(). A site is the README's text, listening on a port of loopback."""

    def __init__(self, folder):
        self.folder, self.sites, self.ports = Path(folder), [], []
        self.folder.mkdir()
        self.certificate, self.key = self.folder / "certificate.pem", self.folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", self.key, "-out", self.certificate, "-days", "2",
                        "-subj", "/CN=portolan", "-addext", f"subjectAltName=DNS:{NAME}"], check=True, capture_output=True)
        self.context = ssl.create_default_context(cafile=self.certificate)

    def add(self, upstream, prefix, **changes):
        """The port of a further site: the page's text before `upstream` (http://HOST:PORT or http://unix:PATH), with `prefix` ("" or "/PREFIX"). Each of
        `changes` is (what stands there, what is to stand there)."""
        port = free_port()
        (text,) = re.findall(r"^```nginx\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        for old, new in (("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"), (f"/etc/ssl/certs/{NAME}.pem;", f"{self.certificate};"),
                         (f"/etc/ssl/private/{NAME}.key;", f"{self.key};"), (f"location {PREFIX}/ {{", f"location {prefix}/ {{"),
                         ("proxy_pass http://127.0.0.1:5780;", f"proxy_pass {upstream};"), *changes.values()):
            if text.count(old) != 1:
                raise ValueError(f"{PAGE} has {text.count(old)} times {old!r}")
            text = text.replace(old, new)
        self.sites.append(text)
        self.ports.append(port)
        return port

    def start(self):
        as_root = "user root;\n" if os.geteuid() == 0 else ""  # else its workers are www-data, which owns none of this
        (self.folder / "nginx.conf").write_text(AROUND.format(user=as_root, folder=self.folder, sites="\n".join(self.sites)), encoding="utf-8")
        program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
        self.process = subprocess.Popen([program, "-e", self.folder / "error.log", "-p", self.folder, "-c", self.folder / "nginx.conf"])
        deadline = time.monotonic() + PATIENCE
        for port in self.ports:
            while not self.listens(port):
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"nginx does not start: status {self.process.poll()}, {self.said()}")
                time.sleep(0.05)

    def listens(self, port):
        with contextlib.suppress(OSError), self.connect(port):
            return True
        return False

    def connect(self, port):
        """A connection to a site, whose certificate and name are checked."""
        return self.context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE), server_hostname=NAME)

    def said(self):
        return "".join(path.read_text(errors="replace") for path in self.folder.glob("*.log"))

    def end(self):
        """Its status."""
        self.process.terminate()
        return self.process.wait(PATIENCE)


@contextlib.contextmanager
def running(nginx):
    nginx.start()
    try:
        yield nginx
    finally:
        status = nginx.end()
        assert status == 0, f"nginx ends with status {status}: {nginx.said()}"
