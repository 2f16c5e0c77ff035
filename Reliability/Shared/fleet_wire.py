"""Devices over the network against a real server: what Reliability/fleet-simulation --wire and --storm run.

    Reliability/fleet-simulation --wire  [--figures] [--json]   a million identities check at random moments
    Reliability/fleet-simulation --storm [--figures] [--json]   after an outage they all wake within a minute (P2)

Without --figures a short form with 50,000 devices, which takes less than a minute.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import deployment_server as server

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
what = parser.add_mutually_exclusive_group(required=True)
what.add_argument("--wire", action="store_true")
what.add_argument("--storm", action="store_true")
parser.add_argument("--figures", action="store_true", help="a million devices")
parser.add_argument("--devices", type=int, help="how many devices there are")
parser.add_argument("--within", type=float, help="seconds within which they wake")
parser.add_argument("--rate", type=float, default=2000, help="without a storm: checks a second")
parser.add_argument("--seconds", type=float, help="without a storm: for how long")
parser.add_argument("--connections", type=int, default=256, help="that all devices share")
parser.add_argument("--most-waiting", type=int, help="after how many waiting requests the server sends devices away")
parser.add_argument("--steps", default="root,timestamp,policy,report", help="what a check asks")
parser.add_argument("--pin", action="store_true", help="the server on one processor, the devices on the other")
parser.add_argument("--json", action="store_true")
options = parser.parse_args()
devices = options.devices or (1_000_000 if options.figures else 50_000)
within = options.within or (60 if options.figures else 3)
seconds = options.seconds or (60 if options.figures else 10)

work = pathlib.Path(tempfile.mkdtemp())
program = shutil.copy(server.program(), work)
fleet = server.product("FleetWire")
arguments = ["--data", work / "data", *(["--most-waiting", options.most_waiting] if options.most_waiting else [])]


def through(processor):
    return ["taskset", "-c", str(processor)] if options.pin else []


def say(text):
    if not options.json:
        print(text, flush=True)


def run(port, process, *more):
    text = subprocess.run(
        [*through(1), fleet, "--port", str(port), "--process", str(process), "--devices", str(devices), "--steps", options.steps,
         "--connections", str(options.connections), "--seed", str(time.time_ns() & 0xFFFFFFFF), "--json", *map(str, more)],
        stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads(text)


def show(found):
    say(f"{found['served']} of {found['checks']} checks of {found['devices']} devices in {found['seconds']:.1f} s, "
        f"{found['requests']} requests over {found['connections']} connections: {found['statuses']}")
    say(f"sent away: {found['shed']} ({100 * found['shedShare']:.1f} %), {found['unguided']} of them without a time; asked again "
        f"too early: {found['early']}; connections lost: {found['lost']}; strange answers: {found['strange']}")
    check = found["check"]
    say(f"a check, from when it is wanted: half within {check['p50']:.1f} ms, 99 % {check['p99']:.0f} ms, all {check['longest']:.0f} ms")
    for step, answer in found["answer"].items():
        say(f"  {step}: half within {answer['p50']:.2f} ms, 99 % {answer['p99']:.1f} ms, 99.9 % {answer['p999']:.1f} ms")
    say(f"the server: {found['processorSeconds']:.1f} s of processor, {found['requestsPerProcessorSecond']:.0f} requests per processor "
        f"second; {found['residentMiB']:.0f} MiB, at most {found['mostResidentMiB']:.0f} MiB")


problems = []
with server.Server(program, *arguments, through=through(0), log=work / "log") as running:
    client = server.Client(running.port)
    client.sign_in(running.first_link())
    client.deploy()
    if options.wire:
        found = run(running.port, running.process.pid, "--rate", options.rate, "--seconds", seconds)
if options.storm:
    # The outage: the server that devices come back to has just begun, and nothing is in its memory.
    with server.Server(program, *arguments, through=through(0), log=work / "log") as running:
        found = run(running.port, running.process.pid, "--storm", within, "--limit", 600)
        if running.process.poll() is not None:
            problems.append("the server ended")
    if found["seconds"] > 180:
        problems.append("it took longer than three minutes")
    if found["shedShare"] > 0.3:
        problems.append("more than 30 % of the requests were sent away")
if found["served"] < found["checks"]:
    problems.append(f"{found['checks'] - found['served']} checks did not come to their end")
for name, text in [("early", "devices asked before their time"), ("unguided", "refusals without Retry-After"),
                   ("strange", "answers that devices do not hope for"), ("lost", "connections were lost")]:
    if found[name]:
        problems.append(f"{found[name]} {text}")
log = (work / "log").read_text(errors="replace")
if "Fatal error" in log:
    problems.append("the server's log tells of a fatal error")
show(found)
found["problems"] = problems
if options.json:
    print(json.dumps(found, indent=2, sort_keys=True))
for problem in problems:
    print(f"fleet-simulation: {problem}", file=sys.stderr)
shutil.rmtree(work)
sys.exit(1 if problems else 0)
