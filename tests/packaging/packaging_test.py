"""Tests that packaging/ fits the program: the installed files, the packages of the container, and the systemd unit.

    packaging_test.py EINDB SOURCE_DIRECTORY UNIT
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

UNIT = sys.argv.pop(3)
SOURCE = sys.argv.pop(2)
EINDB = os.path.abspath(sys.argv.pop(1))


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def directives(dockerfile):
    """Yields (instruction, arguments) of each instruction. Continued lines are joined."""
    lines = [line for line in dockerfile.splitlines() if not line.startswith("#")]
    for line in re.sub(r"\\\n", " ", "\n".join(lines)).splitlines():
        if line.strip():
            word, _, rest = line.partition(" ")
            yield word, rest.strip()


def packages(command):
    """The packages that a RUN instruction installs with apt-get."""
    listed = re.search(r"apt-get install -y --no-install-recommends (.*?)&&", command)[1]
    return set(listed.split())


class Unit(unittest.TestCase):
    path = UNIT

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        # The unit contains the path of the installed program, which is replaced here.
        self.unit = os.path.join(self.folder.name, os.path.basename(self.path))
        with open(self.unit, "w", encoding="utf-8") as file:
            file.write(re.sub(r"^ExecStart=\S+", f"ExecStart={EINDB}", read(self.path), flags=re.MULTILINE))

    def analyze(self, *arguments):
        return subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "SYSTEMD_COLORS": "0"})  # fmt: skip

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
    def test_systemd_takes_it(self):
        ran = self.analyze("verify", "--man=no", self.unit)
        self.assertEqual((ran.returncode, ran.stdout + ran.stderr), (0, ""))

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
    def test_it_is_hardened(self):
        ran = self.analyze("security", "--offline=yes", "--no-pager", "--threshold=20", self.unit)  # tenths
        self.assertEqual(ran.returncode, 0, ran.stdout[-2000:])

    def test_its_command_serves(self):
        command = re.search(r"^ExecStart=\S+ (.*)$", read(UNIT), re.MULTILINE)[1]
        options = dict(re.findall(r"^(EINDB_\w+)=(.*)$", read(SOURCE, "packaging/eindb.conf"), re.MULTILINE))
        options["EINDB_DATABASE"] = os.path.join(self.folder.name, "eindb.db")
        words = command.replace("${EINDB_DATABASE}", options["EINDB_DATABASE"])
        words = words.replace("$EINDB_OPTIONS", re.sub(r":\d+", ":0", options["EINDB_OPTIONS"]))
        with subprocess.Popen([EINDB, *shlex.split(words)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True) as server:  # fmt: skip
            self.assertRegex(server.stdout.readline(), r"^listening on port \d+$")
            self.assertRegex(server.stdout.readline(), r"^http on port \d+$")
            server.terminate()
        self.assertEqual(server.returncode, 0)


class WorkerUnit(Unit):
    path = os.path.join(os.path.dirname(UNIT), "eindb-worker.service")

    def test_its_command_serves(self):
        command = re.search(r"^ExecStart=\S+ (.*)$", read(self.path), re.MULTILINE)[1]
        options = re.search(r"^EINDB_WORKER_OPTIONS=(.*)$", read(SOURCE, "packaging/eindb-worker.conf"), re.MULTILINE)[1]
        self.assertIn(f'"EINDB_WORKER_OPTIONS={options}"', read(self.path))
        secret = os.path.join(self.folder.name, "secret")
        with open(secret, "w", opener=lambda path, flags: os.open(path, flags, 0o400)) as file:
            file.write("a secret of many letters\n")
        words = command.replace("${CREDENTIALS_DIRECTORY}", self.folder.name)
        words = words.replace("/var/lib/eindb-worker", self.folder.name)
        words = words.replace("$EINDB_WORKER_OPTIONS", re.sub(r":\d+", ":0", options))
        with subprocess.Popen([EINDB, *shlex.split(words)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True) as worker:  # fmt: skip
            self.assertRegex(worker.stdout.readline(), r"^listening on port \d+$")
            self.assertRegex(worker.stdout.readline(), r"^http on port \d+$")
            worker.terminate()
        self.assertEqual(worker.returncode, 0)


class Container(unittest.TestCase):
    def setUp(self):
        self.directives = list(directives(read(SOURCE, "packaging/Dockerfile")))
        self.built, self.installed = [
            packages(rest) for word, rest in self.directives if word == "RUN" and "apt-get install" in rest
        ]

    def value(self, word):
        return [rest for known, rest in self.directives if known == word][-1]

    def test_what_it_is_built_with_is_what_bootstrap_installs(self):
        listed = re.search(r"^PACKAGES=\((.*?)^\)", read(SOURCE, "script/bootstrap"), re.MULTILINE | re.DOTALL)[1]
        known = {package for line in listed.splitlines() for package in line.partition("#")[0].split()}
        self.assertLessEqual(self.built, known)
        needed = {package for package in known if package.endswith("-dev")}
        needed -= {"libgtest-dev", "libbenchmark-dev", "libpcre2-dev", "libclang-rt-dev"}
        needed -= {"pybind11-dev", "python3-dev"}  # the container has no Python package
        self.assertLessEqual(needed, self.built)

    @unittest.skipUnless(shutil.which("dpkg-query"), "not a Debian")
    def test_it_has_the_libraries_that_the_program_needs(self):
        listed = subprocess.run(["objdump", "-p", EINDB], capture_output=True, text=True, check=True).stdout
        paths = subprocess.run(["ldd", EINDB], capture_output=True, text=True, check=True).stdout
        always = {"libc6", "libgcc-s1"}
        for library in re.findall(r"NEEDED\s+(\S+)", listed):
            path = re.search(rf"^\s*{re.escape(library)} => (\S+)", paths, re.MULTILINE)
            if path is None or not path[1].startswith(("/lib/", "/usr/lib/")):
                continue  # the loader, a sanitizer's library, or a local one
            owner = None
            for place in {path[1], os.path.realpath(path[1]), "/usr" + path[1]}:
                ran = subprocess.run(["dpkg-query", "-S", place], capture_output=True, text=True)
                owner = ran.stdout.partition(":")[0] or owner
            if owner is not None and not re.match(r"lib(asan|ubsan|tsan)\d", owner):
                self.assertIn(owner, self.installed | always, library)

    def test_it_is_not_root(self):
        self.assertRegex(self.value("USER"), r"^[1-9]\d+:[1-9]\d+$")

    def test_its_health_is_asked_where_it_serves(self):
        command = self.value("CMD")
        self.assertIn('"--http", "0.0.0.0:8433"', command)
        health = self.value("HEALTHCHECK")
        self.assertIn("http://127.0.0.1:8433/health", health)
        self.assertIn("curl", self.installed)
        self.assertEqual(self.value("EXPOSE"), "5433 8433")

    def test_its_command_is_one_of_the_program(self):
        self.assertEqual(json.loads(self.value("ENTRYPOINT"))[:2], ["eindb", "serve"])
        options = subprocess.run([EINDB, "serve", "--help"], capture_output=True, text=True, check=True).stdout
        for option in re.findall(r'"(--[a-z-]+)"', self.value("CMD")):
            self.assertIn(option, options)

    def test_what_is_copied_is_there(self):
        ignored = read(SOURCE, "packaging/Dockerfile.dockerignore")
        copied = set(re.findall(r"^!(\S+)$", ignored, re.MULTILINE))
        for name in copied:
            self.assertTrue(os.path.exists(os.path.join(SOURCE, name)), name)
        added = re.findall(r"^add_subdirectory\((\w+)", read(SOURCE, "CMakeLists.txt"), re.MULTILINE)
        self.assertLessEqual(set(added), copied)


if __name__ == "__main__":
    unittest.main()
