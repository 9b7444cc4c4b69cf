#!/usr/bin/python3
"""usage_test.py EINDB FOLDER: compares the completions and the man page in FOLDER with the program's usage, which is read here
in another way than packaging/usage_files.py does, and lets shells complete."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

FOLDER = sys.argv.pop()
EINDB = os.path.abspath(sys.argv.pop())
COMMANDS = {"", "calibrate", "serve", "promote", "take-over", "worker"}
COMPLETE = """
source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_eindb
printf '%s\\n' "${COMPREPLY[@]}"
"""


def read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def help_of(command):
    return subprocess.run([EINDB, *command.split(), "--help"], capture_output=True, text=True, check=True).stdout


def options(command):
    """The long options at the beginnings of the lines."""
    return {name for name in re.findall(r"^  (?:-\w,)?--([\w-]+)", help_of(command), re.MULTILINE)}


class Usage(unittest.TestCase):
    def test_these_are_the_commands(self):
        listed = help_of("").partition("Subcommands:")[2]
        self.assertEqual(set(re.findall(r"^  ([\w-]+)  ", listed, re.MULTILINE)), COMMANDS - {""})

    def test_it_can_be_printed(self):
        for command in COMMANDS:
            self.assertTrue(help_of(command).replace("\n", "").isprintable(), command)


class ManPage(unittest.TestCase):
    def test_it_has_all_options_and_no_others(self):
        text = read("eindb.1").replace("\\-", "-")
        general, _, rest = text.partition("\n.SH COMMANDS\n")
        parts = {"": general, **dict(re.findall(r"^\.SS eindb (\S+)\n(.*?)(?=^\.S[SH])", rest, re.MULTILINE | re.DOTALL))}
        self.assertEqual(set(parts), COMMANDS)
        for command, part in parts.items():
            listed = set(re.findall(r"^\.TP\n.*?\\fB--([\w-]+)\\fR", part, re.MULTILINE))
            self.assertEqual(listed, options(command), command)
        every = set().union(*map(options, COMMANDS))
        self.assertLessEqual(set(re.findall(r"(?<![\w-])--([a-z][\w-]*)", text)), every)
        self.assertNotIn("@", text)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_roff_takes_it(self):
        page = os.path.join(FOLDER, "eindb.1")
        ran = subprocess.run(["groff", "-man", "-Tutf8", "-ww", page], capture_output=True, text=True)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        text = " ".join(re.sub(r".\x08", "", ran.stdout).split())  # without what makes letters bold
        self.assertIn("--listen TEXT ADDRESS:PORT; port 0 is one that is free; 127.0.0.1:5433 without", text)


class Bash(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for name in ("my data.db", "more"):
            os.mkdir(os.path.join(self.folder, name)) if name == "more" else open(os.path.join(self.folder, name), "w").close()

    def complete(self, *words):
        done = subprocess.run(["bash", "-c", COMPLETE, "bash", os.path.abspath(os.path.join(FOLDER, "eindb.bash")), "eindb", *words],
                              capture_output=True, text=True, cwd=self.folder)  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return set(done.stdout.splitlines()) - {""}

    def test_it_completes_all_options(self):
        for command in COMMANDS:
            own = {f"--{name}" for name in options(command)}
            found = self.complete(*command.split(), "--")
            self.assertLessEqual(own, found)
            self.assertLessEqual(found - own, {f"--{name}" for name in options("")})
        self.assertEqual(self.complete("serve", "--lis"), {"--listen"})
        self.assertEqual(self.complete("my.db", "serve", "--lis"), {"--listen"})
        self.assertIn("--workers", self.complete("serve", "--"))
        self.assertNotIn("--json", self.complete("serve", "--"))

    def test_it_completes_commands_and_values(self):
        self.assertEqual(self.complete("s"), {"serve"})
        self.assertEqual(self.complete("m"), {"my data.db", "more"})
        self.assertEqual(self.complete(""), COMMANDS - {""} | {"my data.db", "more"})
        self.assertEqual(self.complete("serve", "m"), {"my data.db", "more"})
        self.assertEqual(self.complete("--mode", "json"), {"json", "jsonlines"})
        self.assertEqual(self.complete("--mode", "=", "m"), {"markdown"})
        self.assertEqual(self.complete("--mode", "="), self.complete("--mode", ""))
        modes = self.complete("--mode", "")
        self.assertTrue(all(f"--{mode}" in help_of("") for mode in modes), modes)
        self.assertEqual(len(modes), 8)
        self.assertEqual(self.complete("serve", "--log-statements", ""), {"none", "slow", "all"})
        self.assertEqual(self.complete("worker", "--log-level", ""), {"debug", "info", "warning", "error", "off"})
        self.assertEqual(self.complete("worker", "--data", ""), {"more"})
        self.assertEqual(self.complete("-f", ""), {"my data.db", "more"})
        self.assertEqual(self.complete("--threads", ""), set())

    def test_values_are_those_that_the_program_takes(self):
        for option in ("--log-format", "--log-level", "--log-statements"):
            for word in self.complete("serve", option, ""):
                ran = subprocess.run([EINDB, "serve", option, word], capture_output=True, text=True)
                self.assertIn("DATABASE is required", ran.stderr)
        for mode in self.complete("--mode", ""):
            subprocess.run([EINDB, "--mode", mode, "-c", "SELECT 1"], capture_output=True, check=True)


class OtherShells(unittest.TestCase):
    def test_zsh_and_fish_have_all_options(self):
        every = set().union(*map(options, COMMANDS))
        self.assertEqual(set(re.findall(r"--([a-z][\w-]*)[=\[}]", re.sub(r"\[.*?[^\\]\]", "[]", read("_eindb")))), every)
        self.assertEqual(set(re.findall(r" -l ([\w-]+)", read("eindb.fish"))), every)
        for command in COMMANDS - {""}:
            self.assertIn(f"({command})", read("_eindb"))
            own = set(re.findall(rf"^complete -c eindb -n '__eindb_command_is {command}'(?: -s \w)? -l ([\w-]+)", read("eindb.fish"),
                                 re.MULTILINE))  # fmt: skip
            self.assertLessEqual(options(command), own)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_takes_it(self):
        program = f"autoload -U compinit; compinit -u -D; fpath=({FOLDER} $fpath); autoload +X -U _eindb; zsh -n {FOLDER}/_eindb"
        ran = subprocess.run(["zsh", "-f", "-c", program], capture_output=True, text=True)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_completes(self):
        def complete(line):
            program = f"source {FOLDER}/eindb.fish; complete -C {line!r}"
            ran = subprocess.run(["fish", "--no-config", "-c", program], capture_output=True, text=True)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
            return {found.partition("\t")[0] for found in ran.stdout.splitlines()}

        self.assertEqual(complete("eindb serve --lis"), {"--listen"})
        self.assertEqual(complete("eindb a.db serve --log-level d"), {"debug"})
        self.assertIn("take-over", complete("eindb t"))
        self.assertNotIn("take-over", complete("eindb serve t"))


if __name__ == "__main__":
    unittest.main()
