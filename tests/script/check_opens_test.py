"""Tests script/check_opens: each way to open a file by its path is found and located, and nothing else is."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parents[2] / "script" / "check_opens"
OWNER = {"common/open_databases.cpp": "const int file = ::openat(directory, path, flags);\n"}
# The files in the script's table, each with the call that it may make.
ALLOWED = {
    **OWNER,
    "storage/sqlite/sqlite_handle.cpp": "const int code = sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr);\n",
    "storage/files/scratch_file.cpp": "FileDescriptor named(::mkostemp(name.data(), O_CLOEXEC));\n",
    "storage/formats/process_limits.cpp": 'const int file = ::open("/proc/self/statm", O_RDONLY);\n',
    "storage/formats/hdf5_dataset.cpp": "H5Fopen(input_.path_of_descriptor().c_str(), flags, access);\n",
    "storage/formats/hdf5_output.cpp": "H5Fcreate(output_.path_of_descriptor().c_str(), flags, access);\n"
                                       "H5Fopen(output_.path_of_descriptor().c_str(), flags, access);\n",
    "security/tls_context.cpp": "SSL_CTX_use_certificate_chain_file(a, b); SSL_CTX_use_PrivateKey_file(a, b, c);\n"
                                "SSL_load_client_CA_file(a); SSL_CTX_load_verify_file(a, b);\n",
    "shell/line_editor.cpp": "history(h, &e, H_LOAD, p); history(h, &e, H_SAVE, p); el_source(e, p);\n",
    "server/monitoring/server_log.cpp": "#include <spdlog/sinks/basic_file_sink.h>\nspdlog::sinks::basic_file_sink_mt sink(a);\n",
    "cluster/mpi_plugin.cpp": "void* library = ::dlopen(path.c_str(), RTLD_NOW);\n",
}  # fmt: skip


class CheckOpens(unittest.TestCase):
    def check(self, files):
        """Runs the check over a tree of {path: text} and ALLOWED. Returns the exit status and the lines of output."""
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**ALLOWED, **files}.items():
                (Path(root) / path).parent.mkdir(parents=True, exist_ok=True)
                (Path(root) / path).write_text(text)
            run = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True)
        self.assertEqual(run.stderr, "")
        return run.returncode, run.stdout.splitlines()

    def test_what_the_table_allows_passes(self):
        self.assertEqual(self.check({}), (0, []))

    def test_every_way_to_open_a_file_is_found(self):
        for line in ("std::ifstream file(path, std::ios::binary);", "std::ofstream(path) << 1;", "std::fstream file;",
                     "#include <fstream>", "std::wifstream file;", "std::filebuf buffer;",
                     'auto* file = std::fopen(path.c_str(), "r");', 'auto* file = fopen (path, "r");',
                     'freopen(path, "w", stdout);', "int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);",
                     "int file = open(path.c_str(), O_RDWR);", "int file = ::openat(directory, path, O_RDONLY);",
                     "int file = openat(AT_FDCWD, path, O_WRONLY | O_CREAT, 0600);", "int file = ::creat(path, 0600);",
                     "::mkstemp(name.data());", "::truncate(path, 0);", "fs::copy_file(a, b);", "fs::copy(a, b);",
                     "std::filesystem::resize_file(path, 0);", "sqlite3_open(path, &database);",
                     "sqlite3_open_v2(path, &database, 0, nullptr);", "H5Fopen(path, 0, 0);", "H5Fis_hdf5(path);",
                     "SSL_CTX_use_certificate_file(context, path, type);", "BIO_new_file(path, mode);",
                     "dlopen(path, RTLD_NOW);", "spdlog::sinks::rotating_file_sink_mt sink(path);"):  # fmt: skip
            status, lines = self.check({"engine/a.cpp": "\n" + line + "\n"})
            self.assertEqual((status, len(lines)), (1, 1), (line, lines))
            self.assertTrue(lines[0].startswith("engine/a.cpp:2: "), lines[0])
            self.assertIn("open_file", lines[0])

    def test_calls_over_two_lines_are_found(self):
        status, lines = self.check({"storage/a.cpp": "int file = open(path.c_str(),\n                O_RDONLY);\n"})
        self.assertEqual((status, len(lines)), (1, 1), lines)

    def test_functions_of_that_name_are_none(self):
        self.assertEqual(self.check({
            "storage/blob.cpp": "std::optional<SqliteBlob> SqliteBlob::open(SqliteConnection& connection) { open(flags); }\n"
                                "acceptor_.open(endpoint.protocol()); void open(int flags); reader->open(a, b);\n"
                                "auto file = open_file(path, O_RDONLY | O_CREAT, 0600); TransferFile::open(O_WRONLY);\n",
        }), (0, []))  # fmt: skip

    def test_comments_and_strings_do_not_count(self):
        self.assertEqual(self.check({
            "shell/a.cpp": '// std::ifstream is not used\n/* nor\n ::open(path, O_RDONLY) */ auto text = "fopen(x)";\n'
                           'auto raw = R"(std::ofstream)"; auto c = \'"\'; auto n = 1\'000;\n',
        }), (0, []))  # fmt: skip
        status, lines = self.check({"shell/a.cpp": 'auto c = \'"\'; std::ifstream file(path); auto d = \'"\';\n'})
        self.assertEqual((status, len(lines)), (1, 1), lines)

    def test_tests_and_benches_may_open_what_they_like(self):
        text = "std::ifstream file(path);\n"
        self.assertEqual(self.check({"tests/a/b_test.cpp": text, "bench/a.cpp": text, "examples/a.cpp": text}), (0, []))

    def test_a_place_is_allowed_its_own_calls_only(self):
        status, lines = self.check({"shell/line_editor.cpp": ALLOWED["shell/line_editor.cpp"] + "std::ifstream a(b);\n"})
        self.assertEqual((status, len(lines)), (1, 1), lines)

    def test_the_table_is_kept_true(self):
        status, lines = self.check({"storage/files/scratch_file.cpp": "\n"})
        self.assertEqual((status, len(lines)), (1, 1), lines)
        self.assertIn("take it out", lines[0])


if __name__ == "__main__":
    unittest.main()
