"""The peak performance of the machine, which the program build/bench/machine measures on request."""

import subprocess

from rounds import settle


class Machine:
    """Figures of all cores: fp32, fp64 in GFLOP/s; read, write, copy in GB/s; and of one core: fp32-core, fp64-core."""

    def __init__(self, program, threads):
        command = [program, "--serve", str(threads)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._values = {}

    def measure(self, name):
        settle()
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()
        value = float(self._process.stdout.readline())
        self._values.setdefault(name, []).append(value)
        return value

    def best(self, name):
        """The best of all measurements so far."""
        return max(self._values[name]) if name in self._values else self.measure(name)

    def measure_all(self):
        for name in ("fp32", "fp64", "fp32-core", "fp64-core", "read", "write", "copy"):
            self.measure(name)

    def figures(self):
        return {name: max(values) for name, values in self._values.items()}

    def bound_seconds(self, flops, dtype, bytes_read, bytes_written):
        """The roofline: the time of the arithmetic at the peak or of one pass over the data, whichever is longer."""
        arithmetic = flops / (1e9 * self.best("fp64" if dtype in ("float64", "complex128") else "fp32"))
        memory = bytes_read / (1e9 * self.best("read")) + bytes_written / (1e9 * self.best("write"))
        return max(arithmetic, memory)

    def close(self):
        self._process.stdin.close()
        self._process.wait()
