"""One Java process that runs the simulator, and the connection to it.

The package's own wrapper is not used: it starts Java without a bound on its heap (one such process grew to 5 GB),
loads every task twice, asks for every valid action at every step (more work than the step itself), copies all that the
simulator prints through a Python thread, and opens a port through which any process of the machine can command it.
"""

import logging
import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from adjudge.environments._errors import EnvDied, EnvProtocolError
from adjudge.errors import MissingExtra

__all__ = ["Jvm"]

_LEAST_JAVA = 17
_INSTALL = "(Debian and Ubuntu: apt-get install openjdk-17-jre-headless), or set JAVA_HOME to one"
_OPTIONS = (
    "-Xms32m",
    "-XX:+UseSerialGC",  # one collector thread: many of these run side by side
    "-XX:MaxMetaspaceSize=96m",
    "-XX:CompressedClassSpaceSize=32m",  # all of it is reserved, and a worker's address space may be limited
    "-XX:ReservedCodeCacheSize=48m",
    "-XX:+ExitOnOutOfMemoryError",  # with a full heap the process must die, not answer
    # The simulator keeps objects in sets, ordered by Java's identity hashes, which depend on all that the process has
    # done before. With one hash for every object the order depends on the episode alone: a replay is the same anywhere.
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:hashCode=2",
    "-XX:-UsePerfData",  # no file in the temporary folder that a killed process leaves behind
)
_CHARS_SHOWN = 300


class Jvm:
    """A started simulator; `server` is its Python interface, to be called through `call`."""

    def __init__(self, heap_mb: int) -> None:
        gateway = _gateway_module()
        self._gateway: Any = None
        self._process = _launch(gateway.find_jar_path(), heap_mb)
        try:
            port, token = _greeting(self._process)
            parameters = gateway.GatewayParameters(port=port, auth_token=token)
            self._gateway = gateway.JavaGateway(gateway_parameters=parameters)
            # A call that failed is not repeated: a step would be done twice.
            self._gateway._gateway_client._should_retry = lambda *_: False  # noqa: SLF001  # no option does this
            self.server: Any = self.call(self._simulator)
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The id of the Java process."""
        return self._process.pid

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call the simulator; its failures become an `EnvError`."""
        from py4j.protocol import Py4JError, Py4JJavaError

        try:
            # Asked first: a call to a dead process would connect again, to a port that may be somebody else's by now.
            if self._process.poll() is not None:
                raise Py4JError(f"it ended with status {self._process.returncode}")
            return function(*arguments)
        except Py4JJavaError as error:
            raise EnvProtocolError(f"the simulator failed: {_first_line(error.java_exception)}") from error
        except (Py4JError, OSError) as error:
            self._hang_up()
            raise EnvDied(f"the Java process of the simulator is gone: {error}") from error

    def close(self) -> None:
        """End the Java process and close every socket and pipe to it."""
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                _open(pipe).close()
        self._process.wait()
        self._hang_up()

    def _hang_up(self) -> None:
        """Close the sockets, and keep objects that are collected later from opening another one, to a port not ours."""
        if self._gateway is not None:
            self._gateway._gateway_client.is_connected = False  # noqa: SLF001  # `close` alone leaves it connected
            self._gateway.close()

    def _simulator(self) -> Any:
        java = self._gateway.jvm.java
        version = int(str(java.lang.System.getProperty("java.specification.version")).removeprefix("1."))
        if version < _LEAST_JAVA:
            raise MissingExtra(
                f"ScienceWorld needs Java {_LEAST_JAVA} or newer, found {version}: install it {_INSTALL}"
            )
        # The simulator prints whole rooms at every step. Scala keeps the stream that is set when it is first used.
        java.lang.System.setOut(java.io.PrintStream(java.io.OutputStream.nullOutputStream()))
        return self._gateway.jvm.scienceworld.runtime.pythonapi.PythonInterface()


def _gateway_module() -> Any:
    try:
        from py4j import java_gateway
    except ImportError as error:
        raise MissingExtra.of("scienceworld", "ScienceWorld") from error
    # A lost process should be one error, not pages of log. py4j writes some of it to the root logger, hence its own.
    java_gateway.logging = logging.getLogger("py4j")
    java_gateway.logging.setLevel(logging.CRITICAL + 1)
    return java_gateway


def _launch(py4j_jar: str, heap_mb: int) -> "subprocess.Popen[bytes]":
    from importlib.util import find_spec

    found = find_spec("scienceworld")
    if found is None or found.origin is None:
        raise MissingExtra.of("scienceworld", "ScienceWorld")
    folder = Path(found.origin).parent
    command = [
        _java(),
        "-classpath",
        f"{py4j_jar}{os.pathsep}{folder / 'scienceworld.jar'}",
        f"-Xmx{heap_mb}m",
        *_OPTIONS,
    ]
    command += ["py4j.GatewayServer", "--die-on-broken-pipe", "--enable-auth", "0"]
    try:
        return subprocess.Popen(  # noqa: S603  # the user's Java and the package's file
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    except OSError as error:
        raise MissingExtra(
            f"ScienceWorld needs Java, which could not be started ({error}): install it {_INSTALL}"
        ) from error


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin")) if home else None
    found = found or shutil.which("java")
    if found is None:
        raise MissingExtra(
            f"ScienceWorld needs Java {_LEAST_JAVA} or newer, but there is no `java`: install it {_INSTALL}"
        )
    return found


def _greeting(process: "subprocess.Popen[bytes]") -> tuple[int, str]:
    """Read the port and the token that the gateway prints first, and ignore what it prints later."""
    output = _open(process.stdout)
    lines = []
    for line in iter(output.readline, b""):
        text = line.decode(errors="replace").strip()
        if text.isdigit():
            token = output.readline().decode(errors="replace").strip()
            output.close()
            return int(text), token
        lines.append(text)  # such as the options that Java picked up from its environment
    raise EnvDied(f"Java did not start the simulator: {' '.join(lines)[:_CHARS_SHOWN] or 'it printed nothing'}")


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise EnvDied("the Java process was started without pipes")
    return pipe


def _first_line(java_exception: Any) -> str:
    from py4j.protocol import Py4JError

    try:
        return str(java_exception.toString()).partition("\n")[0][:_CHARS_SHOWN]
    except (Py4JError, OSError):
        return "the cause is unknown"
