"""Uses the package like a program of a user: it is installed into a folder of its own, found by CMake and pkg-config,
linked and run.

    install_test.py CMAKE BUILD_DIRECTORY SOURCE_DIRECTORY CXX_COMPILER [CXX_FLAGS]
"""
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CMAKE, BUILD, SOURCE, COMPILER = sys.argv[1:5]
FLAGS = " ".join(sys.argv[5:])  # the flags of a build with sanitizers

EXPECTED = """\
Z is 4 x 2 FLOAT64: 8 2 17 2 26 2 2 0
the second class: 2 2 ...
feature 0 has mean 3.25
feature 1 has mean 3.75
feature 2 has mean 4.75
scaled: 0.5 10.5 20.5
backwards: 20.5 10.5 0.5
unknown name in line 2, column 30
unknown name: there is no tensor Q
  at line 2, column 30:
      = SUM(X[sample, feature] * Q[feature])
                                 ^
"""


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.root = Path(cls.scratch.name)
        cls.prefix = cls.root / "prefix"
        run(CMAKE, "--install", BUILD, "--prefix", cls.prefix)
        cls.library = next(cls.prefix.rglob("libeindb.so")).resolve()

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_the_extension_is_loaded_from_where_it_is_installed(self):
        extensions = list(self.prefix.rglob("eindb/eindb.so"))
        if FLAGS:
            return self.assertEqual(extensions, [])
        self.assertEqual([extension.parent.parent for extension in extensions], [self.library.parent])
        db = sqlite3.connect(self.root / "my.db")
        db.enable_load_extension(True)
        db.load_extension(str(extensions[0].with_suffix("")))
        self.assertEqual(db.execute("SELECT val FROM einsum('i,i->', '(SELECT 0, 2)', '(SELECT 0, 3)')").fetchall(), [(6,)])
        db.close()

    def test_the_example_is_built_by_find_package_and_gives_what_it_says(self):
        build = self.root / "example"
        run(CMAKE, "-S", f"{SOURCE}/examples/cpp", "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_CXX_COMPILER={COMPILER}", f"-DCMAKE_CXX_FLAGS={FLAGS} -Wall -Wextra -Wpedantic -Wshadow -Werror")
        run(CMAKE, "--build", build)
        output = run(build / "regression")
        self.assertTrue(output.startswith(EXPECTED), output)
        self.assertIn("hint: ", output)
        # A program creates an ordinary database, which the installed shell can read.
        database = self.root / "made.db"
        run(build / "regression", database)
        shown = run(self.prefix / "bin" / "eindb", database, "-c", "SELECT SUM(val) AS s FROM W")
        self.assertIn("3.0", shown)

    def test_the_pieces_of_the_guide_are_built_with_pkg_config_and_run(self):
        pieces = re.findall(r"^```cpp\n(.*?)^```", Path(f"{SOURCE}/docs/cpp.md").read_text(), re.M | re.S)
        self.assertGreater(len(pieces), 5)
        source = self.root / "guide.cpp"
        source.write_text("#include <eindb/arrow.hpp>\n#include <eindb/eindb.hpp>\n#include <iostream>\n#include <thread>\n#include <vector>\n"
                          'int main() {\n  eindb::Connection db(":memory:");\n' +
                          "".join("{\n" + piece + "}\n" for piece in pieces) + "}\n")
        pc = next(self.prefix.rglob("eindb.pc")).parent
        flags = run("pkg-config", "--cflags", "--libs", "eindb", env={**os.environ, "PKG_CONFIG_PATH": str(pc)}).split()
        program = self.root / "guide"
        run(COMPILER, "-std=c++20", *FLAGS.split(), source, *flags, f"-Wl,-rpath,{self.library.parent}", "-o", program)
        output = run(program)
        for expected in ("3 x 4, last: 11\n66\n", "0.5 10.5 20.5 20.5 10.5 0.5 ", "1:19 there is no tensor Q"):
            self.assertIn(expected, output)

    def test_another_minor_version_is_refused(self):
        project = self.root / "newer"
        project.mkdir()
        (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(newer LANGUAGES NONE)\n"
                                                "find_package(eindb 0.999 REQUIRED)\n")
        with self.assertRaisesRegex(AssertionError, "0.999"):
            run(CMAKE, "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")

    def test_the_library_shows_its_api_and_nothing_else(self):
        symbols = run("nm", "--dynamic", "--defined-only", "--demangle", self.library).splitlines()
        names = [line.split(" ", 2)[2] for line in symbols]
        self.assertIn("eindb::Connection::cancel()", [name.split("@")[0] for name in names])
        public = ("eindb::Connection::", "eindb::Statement::", "eindb::QueryResult::", "eindb::TensorResult::",
                  "eindb::ArrowInput::", "eindb::ArrowTensor::",
                  "eindb::Exception::", "eindb::detail::", "eindb::to_string(", "eindb::library_version(",
                  "typeinfo for eindb::Exception", "typeinfo name for eindb::Exception", "vtable for eindb::Exception")
        self.assertEqual([name for name in names if not name.startswith(public)], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
