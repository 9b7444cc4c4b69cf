#!/usr/bin/python3
"""packages_test.py FOLDER: installs Debian's packages that script/package has put into FOLDER into a bare Debian of the same
release, in a folder of its own, and runs a first session with each: `script/test packages`.

It needs root, mmdebstrap and a mirror: those of this machine's apt, or EINDB_DEBIAN_MIRROR ("http://.../debian").
"""
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
PACKAGES = sorted(Path(sys.argv.pop(1)).resolve().glob("*.deb"))
NAMES = ["eindb", "eindb-sqlite", "libeindb-dev", "libeindb0.1", "python3-eindb"]
CONFFILES = {"/etc/eindb/eindb.conf", "/etc/eindb/eindb-worker.conf"}
# What is done with the packages, beside what they depend on.
TOOLS = ["sqlite3", "g++", "cmake", "make", "pkg-config", "fish", "zsh"]
IN_ROOT = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"'
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
# Who publishes packages gives an address; a first upload to Debian would close a bug.
ACCEPTED = "bogus-mail-host,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs"

root = None  # the folder of the bare system, once a test needs it


def output(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def command_in_root(*command):
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", IN_ROOT, str(root), *command]


def inside(*command, **options):
    return output(*command_in_root(*command), env=ENVIRONMENT, **options)


def mirrors():
    """Lines of sources.list, and the release's name."""
    release = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    codename = release.get("VERSION_CODENAME", "").strip('"')
    if os.environ.get("EINDB_DEBIAN_MIRROR"):
        return codename, [f"deb {os.environ['EINDB_DEBIAN_MIRROR']} {codename} main"]
    targets = output("apt-get", "indextargets", "--format", "$(ORIGIN)\t$(REPO_URI)\t$(CODENAME)\t$(COMPONENT)", "Created-By: Packages")
    found = [line.split("\t") for line in targets.splitlines() if line.startswith("Debian\t")]
    return codename, sorted({f"deb {uri} {suite} {component}" for _, uri, suite, component in found if suite.startswith(codename)})


def make_root():
    """Makes the bare system, and installs the packages there."""
    global root
    if os.geteuid() != 0:
        raise unittest.SkipTest("a bare system is made by root alone")
    if shutil.which("mmdebstrap") is None:
        raise unittest.SkipTest("mmdebstrap is not installed: script/bootstrap --packages")
    codename, lines = mirrors()
    if not lines:
        raise unittest.SkipTest("apt knows no mirror of Debian: run apt-get update, or set EINDB_DEBIAN_MIRROR")
    folder = tempfile.mkdtemp(prefix="eindb-packages-")
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    proxies = re.findall(r'^(Acquire::https?::Proxy "[^"]+";)$', output("apt-config", "dump"), re.MULTILINE)
    options = [option for proxy in proxies for option in ("--aptopt", proxy)]
    made = subprocess.run(["mmdebstrap", "--mode=root", "--variant=minbase", *options, codename, f"{folder}/root", *lines],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)  # fmt: skip
    if made.returncode != 0 and re.search("Failed to fetch|Could not (resolve|connect)|Temporary failure", made.stderr):
        raise unittest.SkipTest(f"no mirror of Debian can be reached: {' '.join(lines)}")
    if made.returncode != 0:
        raise AssertionError(made.stderr)
    root = Path(folder) / "root"
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    (root / "packages").mkdir()
    for package in PACKAGES:
        shutil.copy(package, root / "packages")
    inside("apt-get", "update", "-q")
    inside("sh", "-c", "apt-get install -y -q --no-install-recommends /packages/*.deb")


class Bare(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if root is None:
            make_root()


class Installed(Bare):
    def test_all_are_installed(self):
        listed = inside("dpkg-query", "-W", "-f=${db:Status-Abbrev} ${Package}\n", *NAMES)
        self.assertEqual(sorted(listed.splitlines()), [f"ii  {name}" for name in NAMES])
        self.assertEqual(inside("dpkg", "--verify", *NAMES), "")
        self.assertEqual(inside("ldd", "/usr/bin/eindb").count("not found"), 0)

    def test_the_program_keeps_a_database(self):
        self.assertRegex(inside("eindb", "--version"), r"^eindb \d+\.\d+\.\d+\n")
        inside("eindb", "/root/my.db", "-c", "CREATE TENSOR X AS EINSUM X[i 2, j 3] = 3 * i + j",
               "-c", "CREATE TENSOR Y AS EINSUM Y[j 3, k 2] = j - k")  # fmt: skip
        self.assertTrue((root / "root/my.db").exists())
        product = inside("eindb", "--csv", "--noheader", "/root/my.db", "-c", "EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k])")
        self.assertEqual(product.split(), ["0,0,5.0", "0,1,2.0", "1,0,14.0", "1,1,2.0"])

    def test_the_service_serves(self):
        unit = (root / "lib/systemd/system/eindb.service").read_text()
        self.assertIn("ExecStart=/usr/bin/eindb serve ${EINDB_DATABASE} $EINDB_OPTIONS", unit)
        self.assertIn("EnvironmentFile=-/etc/eindb/eindb.conf", unit)
        self.assertIn("ExecStart=/usr/bin/eindb worker ", (root / "lib/systemd/system/eindb-worker.service").read_text())
        settings = dict(re.findall(r"^(EINDB_\w+)=(.*)$", (root / "etc/eindb/eindb.conf").read_text(), re.MULTILINE))
        options = re.sub(r":\d+", ":0", settings["EINDB_OPTIONS"]).split()
        with subprocess.Popen(command_in_root("eindb", "serve", "/root/served.db", *options), env=ENVIRONMENT,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:  # fmt: skip
            try:
                self.assertRegex(server.stdout.readline(), r"^listening on port \d+$")
                port = server.stdout.readline().split()[-1]
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=60) as answer:
                    self.assertEqual(answer.status, 200)
                self.check_console(port)
            finally:
                server.terminate()
        self.assertEqual(server.returncode, 0)

    def check_console(self, port):
        """Whether the address serves the page, or says that there is none, by what the program says of its build."""
        has_console = "console: yes" in inside("eindb", "--version")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as answer:
                page = answer.read()
                page = (gzip.decompress(page) if answer.headers["Content-Encoding"] == "gzip" else page).decode()
        except urllib.error.HTTPError as error:
            page = error.read().decode()
        self.assertEqual("<!doctype html>" in page.lower(), has_console, page[:300])

    def test_python_imports_the_module(self):
        program = """
import eindb, importlib.metadata, numpy
print(eindb.__file__, importlib.metadata.version('eindb') == eindb.__version__)
print(eindb.einsum('ij,jk->ik', numpy.ones((2, 3)), numpy.arange(6.0).reshape(3, 2)).tolist())
with eindb.connect('/root/python.db') as db:
    db.store('X', numpy.eye(2))
    print(db.execute('EINSUM Z[] = SUM(X[i,j])').fetchall())
"""
        self.assertEqual(inside("python3", "-c", program).splitlines(),
                         ["/usr/lib/python3/dist-packages/eindb/__init__.py True", "[[6.0, 9.0], [6.0, 9.0]]", "[(2.0,)]"])  # fmt: skip


class WithTools(Bare):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        inside("apt-get", "install", "-y", "-q", "--no-install-recommends", *TOOLS)

    def test_sqlite_loads_the_extension(self):
        inside("eindb", "/root/sqlite.db", "-c", "CREATE TENSOR X AS EINSUM X[i 2, j 3] = 3 * i + j")
        for name in ("eindb", "/usr/lib/x86_64-linux-gnu/eindb/eindb"):
            found = inside("sqlite3", "/root/sqlite.db", f".load {name}", "SELECT val FROM einsum('ij->i', 'X') ORDER BY i")
            self.assertEqual(found.split(), ["3.0", "12.0"])

    def test_programs_are_built_with_the_library(self):
        shutil.copytree(SOURCE / "examples/cpp", root / "root/cpp", dirs_exist_ok=True)
        inside("cmake", "-S", "/root/cpp", "-B", "/root/cpp/build")
        inside("cmake", "--build", "/root/cpp/build")
        self.assertIn("Z is 4 x 2 FLOAT64: 8 2 17 2 26 2 2 0", inside("/root/cpp/build/regression"))
        inside("sh", "-c", "c++ -std=c++20 /root/cpp/*.cpp $(pkg-config --cflags --libs eindb) -o /root/cpp/again")
        self.assertIn("Z is 4 x 2 FLOAT64: 8 2 17 2 26 2 2 0", inside("/root/cpp/again"))

    def test_shells_complete(self):
        program = """
source /usr/share/bash-completion/completions/eindb
COMP_WORDS=(eindb serve --lis) COMP_CWORD=2
_eindb
echo "${COMPREPLY[@]}"
"""
        self.assertEqual(inside("bash", "-c", program), "--listen\n")
        self.assertEqual(inside("fish", "-c", "complete -C 'eindb serve --lis'").split("\t")[0], "--listen")
        self.assertEqual(inside("zsh", "-f", "-c", "autoload -Uz compinit; compinit -u -D; print $_comps[eindb]"), "_eindb\n")
        inside("zsh", "-n", "/usr/share/zsh/vendor-completions/_eindb")

    def test_there_is_a_man_page(self):
        self.assertIn("eindb \\- database for tensors", inside("zcat", "/usr/share/man/man1/eindb.1.gz"))
        for name in NAMES:
            self.assertIn("Apache License", inside("cat", f"/usr/share/doc/{name}/copyright"))


class ZRemoved(Bare):
    """The last one: nothing is installed afterwards."""

    def left(self):
        """What has the name of eindb in its path, without what apt keeps for itself and what the tests made."""
        found = inside("sh", "-c", "find / -xdev -path '*eindb*' -not -path '/proc/*'").splitlines()
        own = ("/packages/", "/root/", "/tmp/", "/var/lib/apt/", "/var/cache/", "/var/log/")
        return {path for path in found if not path.startswith(own)}

    def test_removal_leaves_the_configuration_and_purging_nothing(self):
        inside("apt-get", "remove", "-y", "-q", *NAMES)
        left = {path for path in self.left() if not path.startswith("/var/lib/dpkg/info/")}
        self.assertEqual(left, CONFFILES | {"/etc/eindb"})
        # What is changed stays through a removal and the next installation.
        (root / "etc/eindb/eindb.conf").write_text("EINDB_DATABASE=/srv/other.db\n")
        inside("sh", "-c", "apt-get install -y -q --no-install-recommends /packages/*.deb")
        self.assertEqual((root / "etc/eindb/eindb.conf").read_text(), "EINDB_DATABASE=/srv/other.db\n")
        inside("apt-get", "purge", "-y", "-q", *NAMES)
        self.assertEqual(self.left(), set())
        self.assertTrue((root / "root/my.db").exists())


class Made(unittest.TestCase):
    def test_these_are_the_packages(self):
        self.assertEqual(sorted(package.name.partition("_")[0] for package in PACKAGES), NAMES)

    def test_the_same_commit_gives_the_same_packages(self):
        def hashes(packages):
            return {package.name: hashlib.sha256(package.read_bytes()).hexdigest() for package in packages}

        with tempfile.TemporaryDirectory() as folder:
            output(SOURCE / "script/package", folder)
            self.assertEqual(sorted(hashes(Path(folder).glob("*.deb")).items()), sorted(hashes(PACKAGES).items()))

    @unittest.skipUnless(shutil.which("lintian"), "lintian is not installed: script/bootstrap --packages")
    def test_lintian_finds_no_errors(self):
        output("lintian", "--fail-on", "error", "--suppress-tags", ACCEPTED, *PACKAGES)


if __name__ == "__main__":
    unittest.main(verbosity=2)
