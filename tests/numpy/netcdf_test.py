#!/usr/bin/python3
"""netcdf_test.py EINDB: names of dimensions in files of netCDF-4, as netCDF's own library and xarray write and read them."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import netCDF4
import numpy as np

EINDB = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 1 else None


class NetcdfTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.values = np.arange(24.0).reshape(2, 3, 4)
        np.save(self.folder / "in.npy", self.values)

    def run_eindb(self, statements):
        done = subprocess.run([EINDB, "-c", statements], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def failure(self, statements):
        done = subprocess.run([EINDB, "-c", statements], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 1, done.stdout)
        return done.stderr

    def columns(self, tensor, statements):
        self.run_eindb(f"{statements}; COPY (SELECT * FROM {tensor}) TO 'rows.csv'")
        return (self.folder / "rows.csv").read_text().splitlines()[0].split(",")

    def make(self, name="f.nc", unlimited=False):
        with netCDF4.Dataset(self.folder / name, "w") as file:
            file.createDimension("time", None if unlimited else 2)
            file.createDimension("lat", 3)
            file.createDimension("lon", 4)
            file.createVariable("lat", "f8", ("lat",))[:] = [50, 51, 52]
            t = file.createVariable("t", "f4", ("time", "lat", "lon"))
            t[:] = self.values
            group = file.createGroup("inner")
            group.createDimension("x", 5)
            group.createVariable("v", "i4", ("x", "lat"))[:] = 7

    def test_names_are_labels(self):
        for unlimited in (False, True):
            self.make(unlimited=unlimited)
            self.assertEqual(self.columns("T", "COPY T FROM 'f.nc' (DATASET 't')"), ["time", "lat", "lon", "val"])
            self.assertEqual(self.columns("V", "COPY V FROM 'f.nc' (DATASET 'inner/v')"), ["x", "lat", "val"])
            self.assertEqual(self.columns("L", "COPY L FROM 'f.nc' (DATASET 'lat')"), ["lat", "val"])
        listed = self.run_eindb("SHOW TENSORS IN 'f.nc'").splitlines()[1:]
        self.assertEqual([line.split(",")[0] for line in listed], ["inner/v", "lat", "t"])

    def test_one_variable_beside_coordinates_needs_no_name(self):
        with netCDF4.Dataset(self.folder / "one.nc", "w") as file:
            for name, extent in (("y", 3), ("x", 4)):
                file.createDimension(name, extent)
            file.createVariable("x", "f8", ("x",))[:] = range(4)
            file.createVariable("t", "f8", ("y", "x"))[:] = self.values[0]
        self.assertEqual(self.columns("T", "COPY T FROM 'one.nc'"), ["y", "x", "val"])
        self.run_eindb("COPY T FROM 'one.nc'; COPY T TO 'out.npy'")
        np.testing.assert_array_equal(np.load(self.folder / "out.npy"), self.values[0])

    def test_what_is_written(self):
        self.run_eindb("COPY X FROM 'in.npy'; COPY (EINSUM t[time,lat,lon] = X[time,lat,lon]) TO 'out.nc';"
                       "COPY (EINSUM lat[lat] = MEAN(X[time,lat,lon])) TO 'out.nc' (DATASET 'mean');"
                       "COPY (EINSUM u[lat,lon] = SUM(X[time,lat,lon])) TO 'out.nc' (DATASET 'g/u', COMPRESSION deflate);"
                       "COPY (EINSUM s[] = SUM(X[i,j,k])) TO 'out.nc'")
        with netCDF4.Dataset(self.folder / "out.nc") as file:
            self.assertEqual({name: len(one) for name, one in file.dimensions.items()}, {"time": 2, "lat": 3, "lon": 4})
            self.assertEqual(file["t"].dimensions, ("time", "lat", "lon"))
            self.assertEqual(file["mean"].dimensions, ("lat",))
            self.assertEqual(file["g/u"].dimensions, ("lat", "lon"))
            self.assertEqual(sorted(file.variables), ["mean", "s", "t"])
            np.testing.assert_array_equal(file["t"][:], self.values)
            np.testing.assert_array_equal(file["g/u"][:], self.values.sum(0))
            self.assertEqual(file["s"][...], self.values.sum())
        self.assertEqual(self.columns("T", "COPY T FROM 'out.nc' (DATASET 't')"), ["time", "lat", "lon", "val"])

    def test_coordinates_are_written(self):
        self.run_eindb("COPY X FROM 'in.npy'; COPY (EINSUM lat[lat] = 50 + MEAN(X[time,lat,lon])) TO 'c.nc';"
                       "COPY (EINSUM t[lat,lon] = SUM(X[time,lat,lon])) TO 'c.nc'")
        with netCDF4.Dataset(self.folder / "c.nc") as file:
            self.assertEqual((file["lat"].dimensions, file["t"].dimensions), (("lat",), ("lat", "lon")))
        try:
            import xarray
        except ImportError:
            return
        with xarray.open_dataset(self.folder / "c.nc", engine="netcdf4") as data:
            self.assertEqual(data["t"].dims, ("lat", "lon"))
            np.testing.assert_array_equal(data["t"].coords["lat"].values, 50 + self.values.mean((0, 2)))

    def test_all_types(self):
        for code in ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u4", "u2", "u1", "b1"):
            values = (np.arange(6) % 2).astype(code)
            np.save(self.folder / "x.npy", values)
            self.run_eindb(f"COPY X FROM 'x.npy'; COPY X TO 'types.nc' (DATASET 'x_{code}')")
            with netCDF4.Dataset(self.folder / "types.nc") as file:
                np.testing.assert_array_equal(file[f"x_{code}"][:], values)
                self.assertEqual(file[f"x_{code}"].dimensions, ("i",))

    def test_dimensions_of_other_extents(self):
        self.make()
        message = self.failure("COPY X FROM 'in.npy'; COPY (EINSUM z[lat] = SUM(X[a,b,lat])) TO 'f.nc'")
        self.assertIn("the dimension 'lat' has 3 indices in the file, and 4 in the tensor", message)
        message = self.failure("COPY X FROM 'in.npy'; COPY (EINSUM z[t] = SUM(X[a,b,t])) TO 'f.nc'")
        self.assertIn("has the name of an array in the file", message)
        message = self.failure("COPY X FROM 'in.npy'; COPY (EINSUM z[inner] = SUM(X[a,b,inner])) TO 'f.nc'")
        self.assertIn("something else in the file", message)
        with netCDF4.Dataset(self.folder / "f.nc") as file:
            self.assertNotIn("z", file.variables)

    def test_damaged_names_are_none(self):
        """A file with changed bytes is read or an error that says so."""
        self.make()
        good = bytearray((self.folder / "f.nc").read_bytes())
        rng = np.random.default_rng(5)
        places = [at for word in (b"DIMENSION_LIST", b"CLASS", b"REFERENCE_LIST", b"NAME", b"DIMENSION_SCALE")
                  for at in range(len(good)) if good[at:at + len(word)] == word]
        for at in rng.choice(places, 25):
            bad = bytearray(good)
            bad[min(len(bad) - 1, at + int(rng.integers(-40, 80)))] ^= int(rng.integers(1, 256))
            (self.folder / "bad.nc").write_bytes(bad)
            done = subprocess.run([EINDB, "-c", "SHOW TENSORS IN 'bad.nc'; COPY T FROM 'bad.nc' (DATASET 't')"],
                                  capture_output=True, text=True, cwd=self.folder)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertNotIn("internal error", done.stderr)

    def test_classic_files_are_refused(self):
        with netCDF4.Dataset(self.folder / "classic.nc", "w", format="NETCDF3_CLASSIC") as file:
            file.createDimension("x", 3)
            file.createVariable("v", "f8", ("x",))[:] = 1
        self.assertIn("classic", self.failure("COPY X FROM 'classic.nc'"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
