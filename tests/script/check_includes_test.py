"""Tests script/check_includes: each kind of violation is found and located, and permitted includes pass."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parents[2] / "script" / "check_includes"


class CheckIncludes(unittest.TestCase):
    def check(self, files):
        """Runs the check over a tree of {path: text}. Returns the exit status and the lines of output."""
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                (Path(root) / path).parent.mkdir(parents=True, exist_ok=True)
                (Path(root) / path).write_text(text)
            run = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True)
        self.assertEqual(run.stderr, "")
        return run.returncode, run.stdout.splitlines()

    def assert_violation(self, files, place, words):
        status, lines = self.check(files)
        self.assertEqual((status, len(lines)), (1, 1), lines)
        self.assertTrue(lines[0].startswith(place if place.endswith(":") else place + ": "), lines[0])
        self.assertIn(words, lines[0])

    def test_what_the_table_allows_passes(self):
        status, lines = self.check({
            "common/error.hpp": "#include <vector>\n",
            "tensor/tile.hpp": '#include "common/error.hpp"\n',
            "plan/node.hpp": '#include "tensor/tile.hpp"\n',
            "parser/ast.hpp": '#include "common/error.hpp"\n',
            "parser/binder/binder.hpp": '#include "plan/node.hpp"\n#include "parser/ast.hpp"\n',
            "executor/kernels/gemm.hpp": '#include "tensor/tile.hpp"\n',
            "executor/join.hpp": '#include "executor/kernels/gemm.hpp"\n#include "plan/node.hpp"\n',
            "engine/query/a.hpp": '#include "parser/binder/binder.hpp"\n#include "executor/join.hpp"\n',
            "engine/session.hpp": '#include "engine/files/a.hpp"\n',
            "engine/files/a.hpp": '#include "engine/query/a.hpp"\n',
            "api/connection.cpp": '#include "engine/session.hpp"\n#include "tensor/tile.hpp"\n',
            "tests/plan/node_test.cpp": '#include "plan/node.hpp"\n#include "executor/join.hpp"\n',
        })
        self.assertEqual((status, lines), (0, []))

    def test_the_table_in_the_document_is_held_against_the_rows(self):
        rows = (CHECK.parents[1] / "docs" / "architecture.md").read_text()
        self.assertEqual(self.check({"docs/architecture.md": rows}), (0, []))
        self.assert_violation({"docs/architecture.md": rows.replace("| plan tensor common |", "| tensor common |", 1)},
                              "docs/architecture.md:", "the table's row of")

    def test_a_folder_must_not_include_a_later_one(self):
        self.assert_violation({"common/error.hpp": '#pragma once\n\n#  include "tensor/tile.hpp"\n', "tensor/tile.hpp": ""},
                              "common/error.hpp:3", "common must not include")

    def test_optimizer_and_executor_never_see_each_other(self):
        self.assert_violation({"optimizer/a.cpp": '#include "executor/b.hpp"\n', "executor/b.hpp": ""},
                              "optimizer/a.cpp:1", "optimizer must not include")
        self.assert_violation({"executor/a.cpp": '#include "optimizer/b.hpp"\n', "optimizer/b.hpp": ""},
                              "executor/a.cpp:1", "executor must not include")

    def test_kernels_know_no_plan(self):
        self.assert_violation({"executor/kernels/a.cpp": '#include "plan/b.hpp"\n', "plan/b.hpp": ""},
                              "executor/kernels/a.cpp:1", "executor/kernels must not include")

    def test_the_core_of_the_parser_knows_no_binder_and_no_catalog(self):
        self.assert_violation({"parser/lexer.cpp": '#include "catalog/b.hpp"\n', "catalog/b.hpp": ""},
                              "parser/lexer.cpp:1", "parser must not include")
        self.assert_violation({"parser/lexer.cpp": '#include "parser/binder/binder.hpp"\n', "parser/binder/binder.hpp": ""},
                              "parser/lexer.cpp:1", "parser must not include")

    def test_quoted_includes_are_paths_from_the_root(self):
        self.assert_violation({"tensor/a.hpp": '#include "b.hpp"\n', "tensor/b.hpp": ""}, "tensor/a.hpp:1", "no file")

    def test_files_must_not_include_each_other(self):
        self.assert_violation({"tensor/a.hpp": '\n#include "tensor/b.hpp"\n', "tensor/b.hpp": '#include "tensor/a.hpp"\n'},
                              "tensor/a.hpp:2", "tensor/a.hpp -> tensor/b.hpp -> tensor/a.hpp")

    def test_headers_and_sources_must_not_need_each_other(self):
        self.assert_violation({"tensor/a.hpp": "", "tensor/a.cpp": '#include "tensor/b.hpp"\n',
                               "tensor/b.hpp": '#include "tensor/a.hpp"\n'},
                              "tensor/a:1", "tensor/a tensor/b")

    def test_own_headers_stand_in_quotes(self):
        self.assert_violation({"tensor/a.hpp": "#include <common/b.hpp>\n", "common/b.hpp": ""},
                              "tensor/a.hpp:1", "stands in quotes")

    def test_includes_name_files(self):
        self.assert_violation({"tensor/a.hpp": "#define B <vector>\n#include B\n"}, "tensor/a.hpp:2", "not a macro")

    def test_sqlite_is_for_storage(self):
        self.assert_violation({"engine/a.cpp": "#include <sqlite3.h>\n"}, "engine/a.cpp:1", "for storage alone")
        self.assertEqual(self.check({"storage/sqlite/a.cpp": "#include <sqlite3.h>\n"}), (0, []))

    def test_classes_of_other_rooms_are_not_declared(self):
        self.assert_violation({"plan/a.hpp": "class Join;\n", "executor/b.hpp": "class Join {\n};\n"},
                              "plan/a.hpp:1", "Join is a class of executor")

    def test_an_unknown_folder_is_named(self):
        self.assert_violation({"network/a.hpp": ""}, "network/a.hpp:1", "'network'")


if __name__ == "__main__":
    unittest.main()
