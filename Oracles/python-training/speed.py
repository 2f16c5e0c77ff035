"""speed.py ROWS: training a boosted tree on a frame of polars beside training it in Swift on the same rows.

Swift reads the rows from a CSV file into a DataFrame first (`PythonTrainingRunner`); both sides count from the frame to the model, take turns,
and train with the same number of threads.  The ratios are of the medians, of the seconds by the clock and of those of processors; the
latter is judged, because other processes on the machine weigh less on it.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import polars

from swift_coreml import createml

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS = int(os.environ.get("RUNS", 7))
RUNNER = os.environ.get("COREML_SPEED_RUNNER", str(ROOT / ".build" / "release" / "PythonTrainingRunner"))


def frame(rows):
    random = numpy.random.default_rng(1)
    columns = {f"x{index}": random.normal(size=rows).round(6) for index in range(20)}
    columns["y"] = (columns["x0"] * 3 + columns["x1"] ** 2 + numpy.sin(columns["x2"]) + random.normal(size=rows)).round(6)
    return polars.DataFrame(columns).rechunk()


def processors(process):
    """The seconds of processors that a process has used."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def compared(what, python, swift):
    """Prints two medians and returns their ratio."""
    ratio, pairs = statistics.median(python) / statistics.median(swift), [p / s for p, s in zip(python, swift)]
    print(f"{what}: Python {statistics.median(python):.3f} s, Swift {statistics.median(swift):.3f} s, ratio {ratio:.3f} "
          f"(medians of {RUNS}; ratios of pairs {min(pairs):.3f} to {max(pairs):.3f})")
    return ratio


def main():
    data = frame(int(sys.argv[1]))
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "data.csv")
        data.write_csv(path)
        runner = subprocess.Popen([RUNNER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert runner.stdout.readline().split()[0] == "ready"
        times = [[], [], [], []]
        for number in range(RUNS + 1):
            start = time.perf_counter(), time.process_time()
            model = createml.BoostedTreeRegressor.train(data, target="y", validation=None, progress=False)
            own = time.perf_counter() - start[0], time.process_time() - start[1]
            before = processors(runner.pid)
            runner.stdin.write("train\n")
            runner.stdin.flush()
            answer = runner.stdout.readline().split()
            if number > 0:    # the first warms both up
                for column, value in zip(times, (*own, float(answer[0]), processors(runner.pid) - before)):
                    column.append(value)
        error = model.training_metrics.root_mean_squared_error
        assert error == float(answer[1]), (error, answer)
        runner.stdin.close()
        runner.wait()
    print(f"{len(data)} rows")
    compared("clock", times[0], times[2])
    sys.exit(0 if compared("processors", times[1], times[3]) <= 1.05 else 1)


main()
