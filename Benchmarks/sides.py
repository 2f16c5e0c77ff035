"""The processes that are compared.  Each loads once, says "ready", and answers "run N" with N measurements."""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).parent


class Side:
    """A running process of the protocol."""

    def __init__(self, command, environment=None):
        self.started = time.perf_counter()
        self.command = [str(part) for part in command]
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **(environment or {})})
        self.greeting = self._line("ready")

    def _line(self, start):
        for line in self.process.stdout:
            if line.startswith(start):
                return line.strip()
        raise SystemExit(f"{' '.join(self.command)} ended before it answered (status {self.process.wait()})")

    def run(self, count):
        """`count` measurements."""
        self.process.stdin.write(f"run {count}\n")
        self.process.stdin.flush()
        return json.loads(self._line("["))

    def peak_memory(self):
        """The largest resident size so far, in bytes."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024

    def processor_time(self):
        """The processor time of all its threads so far, in seconds."""
        threads = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9

    def private_memory(self):
        """The bytes that the process shares with no other now."""
        rollup = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return sum(int(count) for count in re.findall(r"Private_\w+:\s+(\d+) kB", rollup)) * 1024

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def inputs_of(folder, scratch):
    """The inputs of a network's reference file as `.npy` files: feature → path."""
    files = {}
    with np.load(folder / "reference.npz") as arrays:
        for key in arrays:
            if key.startswith("in:"):
                files[key[3:]] = scratch / f"{folder.name}-{key[3:]}.npy"
                np.save(files[key[3:]], arrays[key])
    return files


def coreml(program, model, inputs, threads, precision=None):
    command = [program, "bench", model, "--interactive", "--threads", threads]
    if precision:
        command += ["--precision", precision]
    for feature, path in inputs.items():
        command += ["--input", f"{feature}={path}"]
    return Side(command)


def onnx(folder, threads, optimized=None):
    """- optimized: the file of what ONNX Runtime made of the model before; made when it is missing."""
    command = [sys.executable, HERE / "onnx_side.py", folder / "model.onnx", folder / "reference.npz", threads]
    return Side(command + ([optimized] if optimized else []))


def openvino(folder, threads, cache, precision="f32"):
    return Side([sys.executable, HERE / "openvino_side.py", folder / "model.onnx", folder / "reference.npz", threads, cache,
                 precision])


def peak(scratch, threads):
    """The loop of peak.c, built for this machine."""
    program = scratch / "peak"
    subprocess.run(
        ["cc", "-O3", "-march=native", "-ffp-contract=fast", "-pthread", HERE / "peak.c", "-o", program], check=True)
    return Side([program, threads])


class Load:
    """As many busy processes as there are processors, while the block runs."""

    def __init__(self, wanted):
        self.wanted = wanted

    def __enter__(self):
        count = len(os.sched_getaffinity(0)) if self.wanted else 0
        self.processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()
