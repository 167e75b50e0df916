"""`adjudge check` against its ideal: 200 scenarios, 16 in flight, an agent behind HTTP that takes a second.

The ideal is the agent's own time: 13 rounds of a second. Bar: the check, with its run file and its reports, takes at
most 1.15x of that; the whole command, with the start of the interpreter, is printed beside it.
"""

import sys

sys.path = [place for place in sys.path if not place.endswith("benchmarks")]  # math.py here is not Python's

import json
import math
import subprocess
import tempfile
import time
from pathlib import Path

SCENARIOS, IN_FLIGHT, LATENCY, BAR = 200, 16, 1.0, 1.15

AGENT = f"""
import asyncio
from aiohttp import web
async def answer(request):
    await request.json()
    await asyncio.sleep({LATENCY})
    return web.json_response({{"response": "ok", "agents_called": ["orchestrator"], "tools_used": ["search"]}})
async def serve():
    app = web.Application()
    app.router.add_post("/", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.sleep(3600)
asyncio.run(serve())
"""

CHECK = """
import sys, time
from adjudge.scenarios import CheckOptions, check, write_json, write_junit
folder, address, workers = sys.argv[1:]
began, cpu = time.perf_counter(), time.process_time()
done = check(folder + "/s.toml", CheckOptions(agent=address, workers=int(workers), run=folder + "/a.run"))
write_junit(done, folder + "/j.xml")
write_json(done, folder + "/o.json")
print(time.perf_counter() - began, time.process_time() - cpu, done.exit_code)
"""


def measure(folder: str, address: str) -> tuple[float, float, float]:
    """Return the wall seconds of the check, its CPU seconds, and the wall seconds of the whole command."""
    code = [sys.executable, "-c", CHECK, folder, address, str(IN_FLIGHT)]
    wall, cpu, verdict = subprocess.run(code, check=True, capture_output=True, text=True).stdout.split()
    assert verdict == "0", verdict  # noqa: S101 (a benchmark of something that fails measures nothing)
    began = time.perf_counter()
    command = ["-m", "adjudge", "check", f"{folder}/s.toml", "--agent", address, "--run", f"{folder}/b.run"]
    subprocess.run([sys.executable, *command, "--workers", str(IN_FLIGHT)], check=True, capture_output=True)
    return float(wall), float(cpu), time.perf_counter() - began


def main() -> None:
    """Print the ratios."""
    ideal = math.ceil(SCENARIOS / IN_FLIGHT) * LATENCY
    server = subprocess.Popen([sys.executable, "-c", AGENT], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None  # noqa: S101 (piped above)
        address = f"http://127.0.0.1:{int(server.stdout.readline())}/"
        with tempfile.TemporaryDirectory() as folder:
            rows = [{"id": f"s{n}", "question": f"Question {n}?"} for n in range(SCENARIOS)]
            tables = ["".join(f"{key} = {json.dumps(value)}\n" for key, value in row.items()) for row in rows]
            text = "".join(f'[[scenarios]]\n{table}tools_should_include = ["search"]\n' for table in tables)
            Path(folder, "s.toml").write_text(text, encoding="utf-8")
            wall, cpu, whole = measure(folder, address)
    finally:
        server.kill()
        server.wait()
    print(f"{SCENARIOS} scenarios, {IN_FLIGHT} in flight, an agent that takes {LATENCY:g} s: ideal {ideal:.2f} s")
    print(f"check    {wall:6.2f} s wall  {wall / ideal:5.2f}x of the ideal (bar {BAR}x)   {cpu:.2f} s CPU")
    print(f"command  {whole:6.2f} s wall  {whole / ideal:5.2f}x of the ideal, with the start of the interpreter")


if __name__ == "__main__":
    main()
