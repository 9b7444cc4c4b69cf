"""What the system says of the processor."""


def lines(name):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return [line.split(":", 1)[1].strip() for line in file if line.startswith(name)]


def processor_name():
    return next(iter(lines("model name")), "unknown")


def processor_flags():
    return next((line.split() for line in lines("flags")), [])
