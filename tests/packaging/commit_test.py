"""commit_test.py CMAKE SOURCE_DIRECTORY: tests what cmake/commit.cmake writes about a checkout, for `eindb --version`."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = sys.argv.pop()
CMAKE = sys.argv.pop()


class Commit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.checkout, self.written = Path(folder.name) / "checkout", Path(folder.name) / "commit.cpp"
        self.checkout.mkdir()

    def git(self, *arguments):
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@localhost")
        return subprocess.run(["git", *identity, "-C", self.checkout, *arguments], check=True, capture_output=True, text=True).stdout

    def commit(self):
        subprocess.run([CMAKE, f"-DSOURCE={self.checkout}", f"-DOUTPUT={self.written}", "-P", f"{SOURCE}/cmake/commit.cmake"], check=True)
        return self.written.read_text().split('"')[3]

    def test_it_is_that_of_the_checkout(self):
        self.assertEqual(self.commit(), "")  # there is none
        self.git("init", "-q")
        self.assertEqual(self.commit(), "")
        (self.checkout / "file").write_text("one")
        self.git("add", "file")
        self.git("commit", "-q", "-m", "Add a file")
        commit = self.git("rev-parse", "--short=12", "HEAD").strip()
        self.assertEqual(self.commit(), commit)
        (self.checkout / "other").write_text("git does not know it")
        self.assertEqual(self.commit(), commit)
        (self.checkout / "file").write_text("two")
        self.assertEqual(self.commit(), f"{commit} with changes")

    def test_what_has_not_changed_is_not_written(self):
        self.commit()
        before = self.written.stat().st_mtime_ns
        self.commit()
        self.assertEqual(self.written.stat().st_mtime_ns, before)


if __name__ == "__main__":
    unittest.main()
