"""Firefox on a screen that nobody sees (Xvfb: without one it has no WebGL), driven as chromium.py drives Chromium: the same Page, by the commands that it needs. A plugin
for pytest: fixtures `firefox` and `tab`.

Debian 12 has no geckodriver, so selenium speaks here to Firefox itself, by Marionette's protocol: lines of JSON over TCP, each with its length before it.
A browser that does not start is a failure, never a reason to skip.
"""

import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time

import pytest
from selenium import webdriver

import chromium

# What selenium calls a command, and what Marionette does; and where selenium has another name for a parameter.
COMMANDS = {
    "newSession": "WebDriver:NewSession", "get": "WebDriver:Navigate", "refresh": "WebDriver:Refresh", "setTimeouts": "WebDriver:SetTimeouts",
    "executeScript": "WebDriver:ExecuteScript", "w3cExecuteScript": "WebDriver:ExecuteScript",
    "executeAsyncScript": "WebDriver:ExecuteAsyncScript", "w3cExecuteScriptAsync": "WebDriver:ExecuteAsyncScript",
    "findElement": "WebDriver:FindElement", "findElements": "WebDriver:FindElements", "w3cGetActiveElement": "WebDriver:GetActiveElement",
    "getElementText": "WebDriver:GetElementText", "isElementEnabled": "WebDriver:IsElementEnabled",
    "clickElement": "WebDriver:ElementClick", "sendKeysToElement": "WebDriver:ElementSendKeys", "elementScreenshot": "WebDriver:TakeScreenshot",
    "screenshot": "WebDriver:TakeScreenshot", "actions": "WebDriver:PerformActions", "clearActionState": "WebDriver:ReleaseActions",
    "newWindow": "WebDriver:NewWindow", "w3cGetCurrentWindowHandle": "WebDriver:GetWindowHandle", "w3cGetWindowHandles": "WebDriver:GetWindowHandles",
    "switchToWindow": "WebDriver:SwitchToWindow", "close": "WebDriver:CloseWindow", "setWindowRect": "WebDriver:SetWindowRect",
}
PREFERENCES = {
    "marionette.port": 0,  # any; Firefox writes it into its profile
    "app.update.disabledForTesting": True, "browser.shell.checkDefaultBrowser": False, "datareporting.policy.dataSubmissionEnabled": False,
    "browser.startup.page": 0, "browser.newtabpage.enabled": False, "browser.aboutwelcome.enabled": False, "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False, "extensions.update.enabled": False, "services.settings.server": "data:,", "toolkit.telemetry.enabled": False,
    "focusmanager.testmode": True,  # a page has the focus though no window manager gave it
    "intl.accept_languages": "en-US",
    "webgl.force-enabled": True,  # by Mesa's software renderer, which Firefox would rather not use
}
NO_WEBGL = {"webgl.disabled": True}

# Errors of pages since the last time that this was asked: exceptions that nobody caught, and what the Content-Security-Policy stopped.
ERRORS = """
const found = [];
for (const one of Services.console.getMessageArray()) {
  if (!(one instanceof Ci.nsIScriptError) || one.flags & one.warningFlag || !one.sourceName || /^(chrome|resource|moz-extension):/.test(one.sourceName)) continue;
  found.push(`${one.sourceName.slice(0, 80)}:${one.lineNumber} ${one.errorMessage}`);
}
Services.console.reset();
return found;
"""


class Marionette:
    """A connection: send(command, parameters) answers what the command did, or (error's name, {"message", "stacktrace"})."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=2 * chromium.PATIENCE)
        self.stream = self.socket.makefile("rb")
        self.serial = 0
        assert self.receive()["marionetteProtocol"] == 3

    def receive(self):
        length = b""
        while (byte := self.stream.read(1)) != b":":
            assert byte, "Firefox has ended"
            length += byte
        return json.loads(self.stream.read(int(length)))

    def send(self, command, parameters):
        self.serial += 1
        message = json.dumps([0, self.serial, command, parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(message), message))
        kind, serial, error, result = self.receive()
        assert (kind, serial) == (1, self.serial), f"{command} has the answer to another command"
        return error, result


class Firefox(webdriver.Remote):
    """selenium's driver over a Marionette connection."""

    def __init__(self, marionette):
        self.marionette = marionette
        super().__init__(command_executor=marionette, options=webdriver.FirefoxOptions())

    def execute(self, driver_command, params=None):
        params = dict(self._wrap_value(params) or {})
        if driver_command == "newSession":
            params = {"acceptInsecureCerts": True}
        error, result = self.marionette.send(COMMANDS[driver_command], {**params, "full": False} if "creenshot" in driver_command else params)
        if error:
            self.error_handler.check_response({"status": error["error"], "value": error})
        value = result["value"] if isinstance(result, dict) and list(result) == ["value"] else result
        return {"value": self._unwrap_value(value)}

    def privileged(self, script, *arguments):
        """What a script with the rights of the browser itself answers."""
        self.marionette.send("Marionette:SetContext", {"value": "chrome"})
        error, result = self.marionette.send("WebDriver:ExecuteScript", {"script": script, "args": arguments})
        self.marionette.send("Marionette:SetContext", {"value": "content"})
        assert not error, error
        return result["value"]


class Page(chromium.Page):
    def errors(self):
        return self.driver.privileged(ERRORS)

    def emulate(self, width, height, dark=False):
        """The window has this size inside."""
        self.here().privileged("Services.prefs.setIntPref('layout.css.prefers-color-scheme.content-override', arguments[0])", 0 if dark else 1)
        self.wait(lambda: self._has_size(width, height), f"a window of {width}×{height}")

    def _has_size(self, width, height):
        """Else asks for it, again and again: while a window is on its way to another size, its frame cannot be measured."""
        if self.run("return [innerWidth, innerHeight]") == [width, height]:
            return True
        beside, above = self.run("return [outerWidth - innerWidth, outerHeight - innerHeight]")
        self.driver.set_window_rect(width=width + beside, height=height + above)
        time.sleep(0.3)
        return self.run("return [innerWidth, innerHeight]") == [width, height]

    def less_motion(self, less=True):
        self.driver.privileged("Services.prefs.setIntPref('ui.prefersReducedMotion', arguments[0])", int(less))


def wait_for_port(process, profile, said):
    """Firefox writes the port that it listens to into its profile."""
    end = time.monotonic() + 2 * chromium.PATIENCE
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError, ValueError):
            return int((profile / "MarionetteActivePort").read_text())
        time.sleep(0.05)
    said.seek(0)
    raise AssertionError(f"Firefox did not start (status {process.poll()}): {said.read()[-2000:]}")


@contextlib.contextmanager
def running(*command, **options):
    """A process and all that it starts: a group of their own, which ends with this."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **options)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextlib.contextmanager
def screen(said):
    """The name of a display that Xvfb draws into memory."""
    reader, writer = os.pipe()
    with running("/usr/bin/Xvfb", "-displayfd", str(writer), "-screen", "0", "1600x1100x24", "-nolisten", "tcp", "-noreset", pass_fds=[writer], stdout=said, stderr=said):
        os.close(writer)
        with open(reader, encoding="ascii") as told:
            number = told.readline().strip()  # it ends without a word if it cannot start
        said.seek(0)
        assert number, f"Xvfb did not start: {said.read()[-2000:]}"
        yield f":{number}"


@contextlib.contextmanager
def browser(**preferences):
    with tempfile.TemporaryDirectory(prefix="firefox-", ignore_cleanup_errors=True) as home, tempfile.TemporaryFile("w+", errors="replace") as said, screen(said) as display:
        profile = pathlib.Path(home, "profile")
        profile.mkdir()
        (profile / "user.js").write_text("".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in {**PREFERENCES, **preferences}.items()))
        # Root's Firefox wants a home of root's; its sandbox may not start in a container.
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("WAYLAND", "XDG_", "DBUS_", "LD_", "MOZ_"))}
        environment.update(HOME=home, DISPLAY=display, LIBGL_ALWAYS_SOFTWARE="1", MOZ_DISABLE_CONTENT_SANDBOX="1", MOZ_CRASHREPORTER_DISABLE="1", MOZ_DISABLE_AUTO_SAFE_MODE="1", GDK_BACKEND="x11")
        with running("/usr/bin/firefox-esr", "--no-remote", "--marionette", "--remote-allow-system-access", "--profile", str(profile), stdout=said, stderr=said,
                     env=environment) as process:
            driver = Firefox(Marionette(wait_for_port(process, profile, said)))
            driver.set_page_load_timeout(chromium.PATIENCE)
            driver.set_script_timeout(chromium.PATIENCE)
            yield driver


@pytest.fixture(scope="session")
def firefox():
    with browser() as driver:
        yield driver


@pytest.fixture
def tab(firefox):
    """tab(address) opens a page; at the end all are closed, and none may have said an error."""
    opened = []

    def open_tab(address="about:blank"):
        opened.append(Page(firefox, address))
        return opened[-1]

    firefox.privileged(ERRORS)
    yield open_tab
    errors = firefox.privileged(ERRORS)
    for one in opened:
        one.close()
    assert not errors, errors
