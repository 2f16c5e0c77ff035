"""speed.py ROWS: training a boosted tree on a frame of polars beside training it in Swift on the same rows.

Swift reads the rows from a CSV file into a DataFrame first (`PythonTrainingRunner`); both sides count from the frame to the model, take turns,
and train with the same number of threads.  The ratio is of the medians.
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


def main():
    data = frame(int(sys.argv[1]))
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "data.csv")
        data.write_csv(path)
        runner = subprocess.Popen([RUNNER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert runner.stdout.readline().split()[0] == "ready"
        python, swift = [], []
        for number in range(RUNS + 1):
            start = time.perf_counter()
            model = createml.BoostedTreeRegressor.train(data, target="y", validation=None, progress=False)
            own = time.perf_counter() - start
            runner.stdin.write("train\n")
            runner.stdin.flush()
            answer = runner.stdout.readline().split()
            if number > 0:    # the first warms both up
                python.append(own)
                swift.append(float(answer[0]))
        error = model.training_metrics.root_mean_squared_error
        assert error == float(answer[1]), (error, answer)
        runner.stdin.close()
        runner.wait()
    ratio = statistics.median(python) / statistics.median(swift)
    print(f"{len(data)} rows: Python {statistics.median(python):.3f} s, Swift {statistics.median(swift):.3f} s, ratio {ratio:.3f} "
          f"(medians of {RUNS}; ratios of pairs {min(p / s for p, s in zip(python, swift)):.3f} to "
          f"{max(p / s for p, s in zip(python, swift)):.3f})")
    sys.exit(0 if ratio <= 1.05 else 1)


main()
