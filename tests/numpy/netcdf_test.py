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

    def make_classic(self, name, form, codes=("f8", "f4", "i4", "i2", "i1"), records=True):
        with netCDF4.Dataset(self.folder / name, "w", format=form) as file:
            file.title = "odd"
            file.createDimension("time", None if records else 2)
            file.createDimension("lat", 3)
            file.createDimension("lon", 5)
            file.createVariable("lat", "f8", ("lat",))[:] = [50, 51, 52]
            file.createVariable("text", "S1", ("lon",))
            file.createVariable("scalar", "f8", ())[...] = 2.5
            for code in codes:
                file.createVariable(f"v_{code}", code, ("time", "lat", "lon"))[:] = self.classic(code)
                file.createVariable(f"w_{code}", code, ("lon", "lat"))[:] = self.classic(code)[1].T

    def classic(self, code):
        return (np.arange(30).reshape(2, 3, 5) * 3 % 100).astype(code)

    def test_classic_files(self):
        wide = ("f8", "f4", "i4", "i2", "i1", "u1", "u2", "u4", "i8", "u8")
        for form, codes in (("NETCDF3_CLASSIC", wide[:5]), ("NETCDF3_64BIT_OFFSET", wide[:5]), ("NETCDF3_64BIT_DATA", wide)):
            for records in (False, True):
                self.make_classic("c.nc", form, codes, records)
                for mode in ("", "SET tile_bytes = 256;"):
                    self.run_eindb(mode + "".join(
                        f"COPY {v}_{code} FROM 'c.nc' (DATASET '{v}_{code}'); COPY {v}_{code} TO '{v}_{code}.npy';"
                        for v in "vw" for code in codes))
                    for code in codes:
                        np.testing.assert_array_equal(np.load(self.folder / f"v_{code}.npy"), self.classic(code))
                        np.testing.assert_array_equal(np.load(self.folder / f"w_{code}.npy"), self.classic(code)[1].T)
                self.assertEqual(self.columns("V", "COPY V FROM 'c.nc' (DATASET 'v_i2')"), ["time", "lat", "lon", "val"])
        listed = self.run_eindb("SHOW TENSORS IN 'c.nc'")
        self.assertIn('v_i2,INT16,"[2, 3, 5]",30,short', listed)
        self.assertIn("text,,[5],5,char", listed)
        self.assertIn("has characters", self.failure("COPY X FROM 'c.nc' (DATASET 'text')"))
        self.assertIn("it holds 'lat'", self.failure("COPY X FROM 'c.nc' (DATASET 'none')"))

    def test_classic_records_of_one_variable_and_packed_values(self):
        """One variable with records is not padded, and attributes say what its values mean."""
        with netCDF4.Dataset(self.folder / "one.nc", "w", format="NETCDF3_CLASSIC") as file:
            file.createDimension("time", None)
            file.createDimension("x", 3)
            made = file.createVariable("v", "i2", ("time", "x"), fill_value=-999)
            made.scale_factor, made.add_offset = 0.5, 1.0
            made.set_auto_maskandscale(False)
            made[:] = [[1, 2, 3], [4, -999, 6], [7, 8, 9]]
        self.run_eindb("COPY V FROM 'one.nc'; COPY V TO 'v.npy'; COPY R FROM 'one.nc' (RAW); COPY R TO 'r.npy'")
        np.testing.assert_array_equal(np.load(self.folder / "v.npy"), [[1.5, 2, 2.5], [3, np.nan, 4], [4.5, 5, 5.5]])
        np.testing.assert_array_equal(np.load(self.folder / "r.npy"), np.array([[1, 2, 3], [4, -999, 6], [7, 8, 9]], "i2"))

    def test_damaged_classic_files(self):
        self.make_classic("c.nc", "NETCDF3_64BIT_DATA")
        good = bytearray((self.folder / "c.nc").read_bytes())
        rng = np.random.default_rng(3)
        for n in range(60):
            bad = bytearray(good[:rng.integers(4, len(good))] if n % 3 == 0 else good)
            for _ in range(rng.integers(1, 4)):
                bad[rng.integers(4, min(len(bad), 700)) if len(bad) > 5 else 4 % len(bad)] = rng.choice([0, 1, 255, rng.integers(256)])
            (self.folder / "bad.nc").write_bytes(bad)
            done = subprocess.run([EINDB, "-c", "SHOW TENSORS IN 'bad.nc'; COPY T FROM 'bad.nc' (DATASET 'v_f8')"],
                                  capture_output=True, text=True, cwd=self.folder)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertNotIn("internal error", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
