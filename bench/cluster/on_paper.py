"""Plans for clusters that need not exist: the bytes that their workers receive beside lower bounds and other algorithms,
and the time that they would take, as build/bench/scale runs them as events. Deterministic but for the figures of the
machine on which kernel calls are imagined.

`scale` covers up to 1,024 workers; `predicted` compares the same events with measured runs on this machine.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

import statements
from case import Outcome
from local_cluster import LocalCluster

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "paper"))

MOST_OVER_BOUND = 1.3
MOST_OVER_MEASURED = 1.3
# A network of 100 gigabits a second; ranks of 16 threads, which copy as fast as four.
NETWORK = {"gigabytes": 12.5, "microseconds": 5, "transport": "mpi", "speed": 16, "copies": 4}
PRODUCTS = {"square": (1 << 16, 1 << 16, 1 << 16), "tall": (1 << 21, 1 << 11, 1 << 11), "flat": (1 << 16, 1 << 16, 1 << 8)}
ELEMENT = 4  # bytes


def runs(options, workload, workers, strategies=("eindecomp",), **settings):
    """What the program prints for each number of workers and strategy: dictionaries by (workers, strategy)."""
    command = [os.path.join(options.build, "bench", "scale"), workload, ",".join(map(str, workers))]
    command += ["--strategy", ",".join(strategies)]
    for name, value in settings.items():
        command += ["--" + name.replace("_", "-"), str(value)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = map(json.loads, printed.splitlines())
    return {(line["workers"], line["strategy"]): line for line in lines if "not_applicable" not in line}


def least_received(shape, workers):
    """The elements that all workers together must receive to multiply matrices of m x k and k x n, if each makes as much
    of the product and has as much of the matrices (Al Daas, Ballard, Grigori, Kumar and Rouse, "Tight memory-independent
    parallel matrix multiplication communication lower bounds", theorem 3): COSMA's bound where memory does not matter."""
    m, n, k = sorted(shape, reverse=True)
    if workers <= m / n:
        touched = (m * n + m * k) / workers + n * k
    elif workers <= m * n / k**2:
        touched = 2 * math.sqrt(m * n * k**2 / workers) + m * n / workers
    else:
        touched = 3 * (m * n * k / workers) ** (2 / 3)
    return workers * touched - (m * n + m * k + n * k)


def received_by_layers(side, workers):
    """The elements that all workers receive by the 2.5D algorithm with its best number of layers (Solomonik and Demmel):
    both matrices are copied to each layer, shifted within it, and partial products are summed."""
    best = math.inf
    layers = 1
    while layers**3 <= workers:
        grid = math.isqrt(workers // layers)
        if grid * grid * layers == workers and grid % layers == 0:
            best = min(best, side**2 * (2 * grid + 3 * (layers - 1)))
        layers += 1
    return best


def product_cases(options):
    workers = [4, 16, 64] if options.quick else [4, 16, 64, 256, 1024]
    for name, (m, n, k) in PRODUCTS.items():
        found = runs(options, f"product:{m}:{n}:{k}", workers, **NETWORK)
        for count in workers:
            run = found[count, "eindecomp"]
            outcome = Outcome("scale", f"{name} product, {count} workers", {"simulated": run["seconds"]})
            outcome.add("bytes over the lower bound", run["bytes"] / (ELEMENT * least_received((m, n, k), count)), at_most=MOST_OVER_BOUND)
            if m == n == k:
                outcome.add("bytes over those of 2.5D", run["bytes"] / (ELEMENT * received_by_layers(m, count)), at_most=1)
            outcome.add("efficiency", run["efficiency"])
            yield outcome


def scaling_cases(options):
    """Strong scaling, EinDecomp beside others; the panels of the plot are filled on the way."""
    from figure import Panel, draw

    workers = [16, 64] if options.quick else [16, 64, 256, 1024]
    models = ("eindecomp", "megatron", "data", "sequence")
    workloads = {
        "chain s=80000": ("chain:80000", ("eindecomp", "sqrt", "data(i)"), {}),
        "skewed chain s=80000": ("skewed:80000", ("eindecomp", "sqrt", "data(i)"), {}),
        "LLaMA-7B 8 x 4096": ("prefill:7B:8:4096", models, {}),
        "LLaMA-65B 8 x 4096": ("prefill:65B:8:4096", models, {"layers": 8} if options.quick else {}),
        "classifier 4096 x 8192": ("classifier:4096:8192", ("eindecomp", "megatron", "data(b)"), {}),
    }
    panels = []
    for name, (workload, strategies, settings) in workloads.items():
        if not options.selects(name):
            continue
        found = runs(options, workload, workers, strategies, **NETWORK, **settings)
        panel = Panel(f"planned: {name}, strong scaling", "workers", "workers times seconds", logarithmic=True)
        panels.append(panel)
        for count in workers:
            outcome = Outcome("scale", f"{name}, {count} workers")
            for strategy in strategies:
                run = found.get((count, strategy))
                panel.add(strategy, count, run and count * run["seconds"])
                if run:
                    outcome.seconds[strategy] = run["seconds"]
            mine = found[count, "eindecomp"]
            others = [found[count, other]["bytes"] for other in strategies[1:] if (count, other) in found]
            if others:
                outcome.add("bytes over the least of others", mine["bytes"] / min(others), at_most=1)
            ahead = runs(options, workload, [count], ahead=64, **NETWORK, **settings)[count, "eindecomp"]
            outcome.seconds["eindecomp, steps overlapped"] = ahead["seconds"]
            outcome.add("efficiency", mine["efficiency"])
            outcome.add("efficiency if steps overlap", ahead["efficiency"])
            yield outcome
    # As much work for each worker: the side grows with the cube root of their number.
    weak = Panel("planned: product, weak scaling", "workers", "efficiency")
    for count in workers:
        side = round((16384**3 * count) ** (1 / 3) / 64) * 64
        run = runs(options, f"product:{side}:{side}:{side}", [count], **NETWORK)[count, "eindecomp"]
        outcome = Outcome("scale", f"weak scaling, product of {side}, {count} workers", {"eindecomp": run["seconds"]})
        outcome.add("efficiency", run["efficiency"])
        weak.add("eindecomp", count, run["efficiency"])
        yield outcome
    folder = os.path.join(options.build, "cluster")
    os.makedirs(folder, exist_ok=True)
    print("plots: " + " ".join(draw([*panels, weak], os.path.join(folder, "scale"))), file=sys.stderr)


def run_scale(options):
    """Yields outcomes; bytes are the same on every machine."""
    for outcome in product_cases(options):
        if options.selects(outcome.name):
            yield outcome
    yield from scaling_cases(options)


def run_predicted(options):
    """Measured on local workers of one thread, and the same as events on hosts with this machine's cores."""
    scales = (1000, 2000) if options.quick else (2000, 4000)
    cases = {f"chain s={scale}": (statements.chain("uniform", scale), f"chain:{scale}") for scale in scales}
    cases |= {f"skewed chain s={scale}": (statements.chain("skewed", scale), f"skewed:{scale}") for scale in scales}
    with tempfile.TemporaryDirectory(prefix="eindb-cluster-") as folder:
        machine = os.path.join(folder, "machine.json")
        cores = calibrate(options, folder, machine)
        for workers in (2, 4, 8):
            with tempfile.TemporaryDirectory(prefix="eindb-cluster-") as of_workers:
                with LocalCluster(options.program, of_workers, workers) as cluster:
                    for name, (statement, workload) in cases.items():
                        if options.selects(name):
                            yield predicted(options, cluster, (machine, cores), name, statement, workload)


def calibrate(options, folder, machine):
    """Measures the kernels, and the exchange between two workers, which have a core each: what messages take of a
    processor, without waiting for it. Returns how many cores the machine's are worth when all are busy."""
    with LocalCluster(options.program, folder, 2) as cluster:
        addresses = ",".join(worker.address for worker in cluster.workers)
        cluster.shell.close()
        secret = os.path.join(folder, "secret")
        command = [options.program, "--threads", str(os.cpu_count()), "--workers", addresses, "--secret-file", secret]
        subprocess.run([*command, "calibrate", machine], check=True, stdout=subprocess.DEVNULL)
    with open(machine) as file:
        return json.load(file)["figures"]["compute_scaling"]


def predicted(options, cluster, figures, name, statement, workload):
    machine, cores = figures
    workers = len(cluster.workers)
    for definition in statement.definitions():
        cluster.shell.execute(definition)
    cluster.shell.execute("SET redistribution = 'pieces'")
    cluster.shell.execute("SET small_statements = 'workers'")
    measured = statistics.median([cluster.shell.seconds(statement.query) for _ in range(options.rounds + 1)][1:])
    local = {"machine": machine, "host": workers + 1, "cores": cores, "transport": "tcp", "deliver": "yes"}
    run = runs(options, workload, [workers], dtype="float64", **local)[workers, "eindecomp"]
    outcome = Outcome("predicted", f"{name}, {workers} workers")
    outcome.seconds = {"measured": measured, "simulated": run["seconds"]}
    ratio = run["seconds"] / measured
    outcome.add("simulated over measured", ratio, at_least=1 / MOST_OVER_MEASURED, at_most=MOST_OVER_MEASURED)
    return outcome
