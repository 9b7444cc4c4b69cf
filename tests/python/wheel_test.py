#!/usr/bin/python3
"""A wheel of the build whose folder is named, installed into an environment of its own. Nothing is fetched."""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest
import zipfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SOURCES = ("pyproject.toml", "setup.py", "CMakeLists.txt", "LICENSE", "NOTICE", "docs/python.md", "python/eindb")
MISSING = [name for name in ("pip", "setuptools", "wheel") if importlib.util.find_spec(name) is None]
PROGRAM = """
import eindb, numpy
print(eindb.__version__, eindb.__file__)
print(eindb.einsum('ij,j->i', numpy.ones((2, 3)), [1, 2, 3]).tolist())
with eindb.connect('my.db') as db:
    db.store('X', numpy.ones((2, 3)), names={'i': ['a', 'b']})
with eindb.connect('my.db') as db:
    print(db.execute('EINSUM Z[i] = SUM(X[i,j])').fetchall())
"""


def run(*command, **keywords):
    # Not the package of the build, which PYTHONPATH names.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment.update(keywords.pop("env", {}), PIP_DISABLE_PIP_VERSION_CHECK="1")
    done = subprocess.run(command, capture_output=True, text=True, env=environment, **keywords)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
    return done.stdout


@unittest.skipIf(MISSING, f"there is no {', '.join(MISSING)}")
@unittest.skipIf(shutil.which("cmake") is None or len(sys.argv) < 2, "the folder of the build is not named")
class Wheel(unittest.TestCase):
    def test_it_works_where_it_is_installed(self):
        with tempfile.TemporaryDirectory() as folder:
            source, wheels, place = (os.path.join(folder, name) for name in ("source", "wheels", "place"))
            # A copy, since setuptools works in the folder of the sources.
            for path in SOURCES:
                target = os.path.join(source, path)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                copy = shutil.copytree if os.path.isdir(os.path.join(ROOT, path)) else shutil.copy
                copy(os.path.join(ROOT, path), target)
            run(sys.executable, "-m", "pip", "wheel", source, "--no-build-isolation", "--no-deps", "--no-index", "-w", wheels,
                env={"EINDB_BUILD_DIR": os.path.abspath(sys.argv[1])})  # fmt: skip
            (wheel,) = os.listdir(wheels)
            tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
            platform = re.sub("[-.]", "_", sysconfig.get_platform())
            version = re.fullmatch(rf"eindb-(\d+\.\d+\.\d+)-{tag}-{tag}-{platform}\.whl", wheel)[1]
            names = zipfile.ZipFile(os.path.join(wheels, wheel)).namelist()
            files = {name for name in names if not name.startswith(f"eindb-{version}.dist-info/")}
            shown = {f"eindb/{name}" for name in os.listdir(os.path.join(ROOT, "python", "eindb")) if name != "__pycache__"}
            self.assertLessEqual(shown, files)
            compiled = sorted(files - shown)
            self.assertEqual(len(compiled), 2)
            self.assertRegex(compiled[0], r"^eindb/_eindb\..*\.so$")
            self.assertEqual(compiled[1], "eindb/libeindb.so." + version.rpartition(".")[0])

            run(sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", place)
            python = os.path.join(place, "bin", "python3")
            run(python, "-m", "pip", "install", "--no-index", "--no-deps", os.path.join(wheels, wheel))
            shutil.rmtree(source)
            first, sums, rows = run(python, "-c", PROGRAM, cwd=folder).splitlines()
            self.assertRegex(first, rf"^{re.escape(version)} {re.escape(place)}/lib/.*/eindb/__init__\.py$")
            self.assertEqual((sums, rows), ("[6.0, 6.0]", "[('a', 3.0), ('b', 3.0)]"))
            # The library of the environment, whatever others there are.
            loaded = run(python, "-c", "import eindb; print(open('/proc/self/maps').read())", cwd=folder)
            libraries = {line.split()[-1] for line in loaded.splitlines() if "libeindb" in line}
            self.assertEqual(len(libraries), 1)
            self.assertTrue(libraries.pop().startswith(place))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
