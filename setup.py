"""Builds the Python package for pip: its module and libeindb by CMake, beside each other in the package.

EINDB_BUILD_DIR names a CMake build for this interpreter, in which the target eindb_python has been built: it is taken as
it is. Without it everything is compiled, in the folder build-pip, by as many jobs as CMAKE_BUILD_PARALLEL_LEVEL says.
"""

import os
import re
import subprocess
import sys
import sysconfig

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = os.path.dirname(os.path.abspath(__file__))
WORK = "build-pip"


class BuildByCMake(build_ext):
    def run(self):
        build = os.environ.get("EINDB_BUILD_DIR") or self.compiled()
        subprocess.run(["cmake", "--install", build, "--component", "wheel", "--prefix", self.build_lib, "--strip"], check=True)
        module = os.path.join(self.build_lib, "eindb", "_eindb" + sysconfig.get_config_var("EXT_SUFFIX"))
        if not os.path.exists(module):
            raise SystemExit(f"the build in {build} has no Python package, or one for another interpreter than {sys.executable}")

    def compiled(self):
        build = os.path.join(WORK, "cmake")
        subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        f"-DEINDB_PYTHON={sys.executable}", "-DEINDB_BUILD_TESTS=OFF", "-DEINDB_BUILD_BENCHMARKS=OFF"],
                       check=True)  # fmt: skip
        subprocess.run(["cmake", "--build", build, "--target", "eindb_python"], check=True)
        return build


def version():
    """That of CMakeLists.txt, which the library has."""
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"project\(eindb VERSION ([\d.]+)", file.read())[1]


os.makedirs(os.path.join(ROOT, WORK), exist_ok=True)
setup(
    version=version(),
    packages=["eindb"],
    package_dir={"eindb": "python/eindb"},
    package_data={"eindb": ["*.pyi", "py.typed"]},
    ext_modules=[Extension("eindb._eindb", sources=[])],
    cmdclass={"build_ext": BuildByCMake},
    options={"build": {"build_base": WORK}, "egg_info": {"egg_base": WORK}},
    zip_safe=False,
)
