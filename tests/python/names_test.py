#!/usr/bin/python3
"""Names of indices: stored from arrays, frames of pandas and arrays of xarray, and read again."""
import datetime
import sys
import unittest
from unittest import mock

import eindb
import numpy as np

try:
    import pandas as pd
except ImportError:
    pd = None
try:
    import xarray as xr
except ImportError:
    xr = None

DAYS = np.arange("2024-01-30", "2024-02-03", dtype="M8[D]")
NAMES = {"city": ["Oslo", "Ber'gen"], "day": DAYS}


class Names(unittest.TestCase):
    def setUp(self):
        self.db = eindb.connect()
        self.addCleanup(self.db.close)
        self.sold = np.arange(8.0).reshape(2, 4)
        self.db.store("Sold", self.sold, labels=("city", "day"), names=NAMES)

    def described(self, name):
        """What DESCRIBE says of the names of the first dimension."""
        return self.db.execute(f"DESCRIBE {name}").fetchone()[4]

    def assert_round_trip(self, frame):
        self.db["Again"] = frame
        test = pd.testing.assert_series_equal if isinstance(frame, pd.Series) else pd.testing.assert_frame_equal
        again = self.db["Again"].df()
        test(again["val"] if isinstance(frame, pd.Series) else again, frame, check_freq=False, check_names=False)


class Arrays(Names):
    def test_stored_and_read(self):
        stored = self.db["sold"]
        self.assertEqual(stored.names, (["Oslo", "Ber'gen"], [str(day) for day in DAYS]))
        np.testing.assert_array_equal(stored.numpy(), self.sold)
        self.assertEqual(self.db.execute("SELECT val FROM Sold WHERE city = 'Oslo' AND day = '2024-01-31'").fetchall(), [(1,)])
        self.assertEqual(self.db.execute("EINSUM Z[d] = Sold[$1,d]", ["Ber'gen"]).fetchone(), ("2024-01-30", 4.0))
        self.db["plain"] = self.sold
        self.assertEqual(self.db["plain"].names, (None, None))
        self.db.store("half", np.array([[1, 2]], "i1"), names={"j": [1.5, "x"]})
        self.assertEqual((self.db["half"].names, self.db["half"].stored_type), ((None, ["1.5", "x"]), "INT8"))

    def test_types(self):
        for dtype in ("f2", "i1", "u1", "i2", "u2", "i4", "u4", "?", "f4", "c8", "c16", "i8", "f8", ">f8"):
            array = np.array([1, 0, 1], dtype)
            self.db.store("X", array, names={"i": list("abc")})
            np.testing.assert_array_equal(self.db["X"].numpy(), array)
            self.assertEqual(self.db["X"].dtype, np.dtype(dtype).newbyteorder("="))

    def test_calendars(self):
        for step, times in (("1 day", DAYS), ("6 hours", np.arange("2024-01-01", "2024-01-03", 6, "M8[h]")),
                            ("1 month", np.arange("2024-01", "2025-01", dtype="M8[M]")),
                            ("90 seconds", np.datetime64("2024-01-01T05:00:00") + 90 * np.arange(3)),
                            ("2 years", np.array(["2020-02-28", "2022-02-28", "2024-02-28"], "M8[D]")),
                            ("1 month", np.array(["2020-01-05T04", "2020-02-05T04", "2020-03-05T04"], "M8[s]"))):  # fmt: skip
            with self.subTest(step, times=times[:3]):
                self.db.store("C", np.arange(len(times)), names={"i": times})
                self.assertTrue(self.described("C").endswith(" by " + step), self.described("C"))
                read = [row[0] for row in self.db.execute("SELECT i FROM C ORDER BY val")]
                self.assertEqual(self.db["C"].names, (read,))
                self.assertEqual([self.db["C"][time] for time in times], list(range(len(times))))
        for dates in (DAYS.tolist(), list(DAYS), [datetime.datetime(2024, 1, 30, hour) for hour in range(4)]):
            self.db.store("C", np.ones(4), names={"i": dates})
            self.assertRegex(self.described("C"), "^2024-01-30.* by 1 (day|hour)$")
            self.assertEqual([self.db["C"][date] for date in dates], [1] * 4)
        for uneven in (DAYS[[0, 1, 3]], DAYS[::-1], DAYS[:1], np.array(["2024-01-31", "2024-02-29", "2024-03-31"], "M8[D]")):
            self.db.store("C", np.ones(len(uneven)), names={"i": uneven})
            self.assertEqual(self.db["C"].names, ([str(day) for day in uneven],))
            self.assertNotIn(" by ", self.described("C"))

    def test_what_does_not_fit(self):
        for error, names in ((ValueError, {"z": ["a"]}), (ValueError, {"i": ["a"]}), (ValueError, {"i": "ab"}),
                             (ValueError, {"i": [None, "a"]}), (ValueError, {"i": [float("nan"), "a"]}),
                             (ValueError, {"i": np.array(["2024-01-01", "NaT"], "M8[D]")}),
                             (ValueError, {"i": np.array(["2024-01-01T00:00:00.5", "2024-01-01"], "M8[ms]")}),
                             (ValueError, {"i": ["a", "a"]}), (eindb.DataError, {"i": ["", "a"]})):  # fmt: skip
            with self.assertRaises(error):
                self.db.store("Sold", [1, 2], names=names)
        with self.assertRaises(ValueError):
            self.db.store("Sold", [[1, 2]], labels=("i", "i"), names={"i": ["a"]})
        i = eindb.labels("i")
        with self.assertRaises(ValueError):
            self.db.store("Z", self.db["Sold"][0, i], names={"i": DAYS})
        self.assertEqual(self.db["Sold"].shape, (2, 4))

    def test_all_or_nothing(self):
        self.db.execute("BEGIN")
        with self.assertRaises(eindb.Error):
            self.db.store("Sold", [np.nan, 1.0], names={"i": ["a", "b"]}, type="INT8")
        self.assertTrue(self.db.in_transaction)
        self.assertEqual(self.db["Sold"].shape, (2, 4))
        self.db.store("Sold", [1, 2], names={"i": ["a", "b"]})
        self.db.rollback()
        self.assertEqual(self.db["Sold"].names[0], ["Oslo", "Ber'gen"])

    def test_as_indices(self):
        stored, sold = self.db["Sold"], self.sold
        for got, expected in ((stored["Oslo"], sold[0]), (stored["Ber'gen", 1], 5), (stored[:, "2024-01-31"], sold[:, 1]),
                              (stored[..., DAYS[2]], sold[:, 2]), (stored[["Ber'gen", "Oslo"]], sold[[1, 0]]),
                              (stored[0, "2024-01-31":"2024-02-01"], sold[0, 1:3]),
                              (stored["Ber'gen":, None, :"2024-01-31"], sold[1:, None, :2]),
                              (stored[1, datetime.date(2024, 1, 31)], 5),
                              (stored[1, datetime.datetime(2024, 1, 31)], 5)):  # fmt: skip
            np.testing.assert_array_equal(got, expected)
        d = eindb.labels("d")
        np.testing.assert_array_equal((stored["Ber'gen", d] - stored["Oslo", d]).compute(), [4, 4, 4, 4])
        self.db["plain"] = sold
        for error, call in ((KeyError, lambda: stored["Rome"]), (KeyError, lambda: self.db["plain"]["Oslo"]),
                            (IndexError, lambda: stored[0, 0, "Oslo"])):  # fmt: skip
            self.assertRaises(error, call)

    def test_copies_of_stored_tensors(self):
        with eindb.connect() as other:
            other["Copy"] = self.db["Sold"]
            self.assertEqual((other["Copy"].labels, other["Copy"].names), (("city", "day"), self.db["Sold"].names))
            self.assertRegex(other.execute("DESCRIBE Copy").fetchall()[1][4], "by 1 day$")
            np.testing.assert_array_equal(other["Copy"].numpy(), self.sold)
        self.db.store("Again", self.db["Sold"], labels=("a", "b"), names={"a": None})
        self.assertEqual((self.db["Again"].labels, self.db["Again"].names[0]), (("a", "b"), None))

    def test_temporary_tensors_hide_others(self):
        self.db.execute("CREATE TEMP TENSOR Sold (i IN ('x', 'y'))")
        self.assertEqual(self.db["Sold"].names, (["x", "y"],))
        self.db.execute("DROP TENSOR Sold")
        self.assertEqual(self.db["Sold"].names[0], ["Oslo", "Ber'gen"])

    def test_null_is_nan(self):
        self.db["X"] = np.array([1, np.nan])
        np.testing.assert_array_equal(self.db.execute("SELECT val FROM X").numpy()["val"], [1, np.nan])
        self.assertEqual(self.db.execute("SELECT 'a' AS x UNION ALL SELECT NULL").numpy()["x"].tolist(), ["a", None])

    def test_without_xarray(self):
        with mock.patch.dict(sys.modules, xarray=None), self.assertRaisesRegex(ImportError, "xarray, which is not installed"):
            self.db["Sold"].to_xarray()


@unittest.skipIf(pd is None, "there is no pandas")
class Frames(Names):
    def test_wide_and_long(self):
        frame = self.db["Sold"].df()
        self.assertEqual((frame.loc["Oslo", "2024-01-31"], frame.index.name, frame.columns.name), (1, "city", "day"))
        self.assert_round_trip(frame)
        self.db.store("cube", np.arange(24).reshape(2, 3, 4), names={"j": list("abc")})
        frame = self.db["cube"].df()
        self.assertEqual((list(frame.columns), frame.loc[1, "c", 3]["val"]), (["val"], 23))
        self.assert_round_trip(frame)
        self.db["number"] = 3
        self.assertEqual(self.db["number"].df()["val"].tolist(), [3])

    def test_index_and_columns(self):
        frame = pd.DataFrame({"a": [1.0, np.nan], "b": [2.0, 3.0]}, index=pd.date_range("2024", periods=2, freq="MS", name="month"))
        self.assert_round_trip(frame)
        self.assertEqual(self.db["Again"].labels, ("month", "j"))
        self.assert_round_trip(pd.Series([1, 2, 3], index=list("abc"), name="count"))
        self.assert_round_trip(pd.Series([1, 2, 3]))
        self.assertEqual(self.db["Again"].names, (None,))
        self.db["numbers"] = pd.Series([1, 2], index=[5, 7])
        self.assertEqual(self.db["numbers"].names, (["5", "7"],))
        self.db.store("more", frame, labels=("m", "n"), names={"n": ["x", "y"]})
        self.assertEqual((self.db["more"].labels, self.db["more"].names[1]), (("m", "n"), ["x", "y"]))
        self.db["odd"] = pd.DataFrame([[1]], index=pd.Index(["x"], name="a b"), columns=pd.Index(["y"], name="i"))
        self.assertEqual(self.db["odd"].labels, ("a_b", "i"))

    def test_keys_of_several_parts(self):
        keys = pd.MultiIndex.from_tuples([("a", 5), ("b", 5), ("a", 6)], names=["x", "y"])
        self.db["M"] = pd.Series([1, 2, 3], index=keys)
        self.assertEqual(self.db["M"].names, (["a", "b"], ["5", "6"]))
        np.testing.assert_array_equal(self.db["M"].numpy(), [[1, 3], [2, np.nan]])
        self.db["M"] = pd.Series([1, 2, 3], index=keys).iloc[:2]
        self.assertEqual((self.db["M"].shape, self.db["M"].stored_type), ((2, 1), "INT64"))
        self.db["M"] = pd.DataFrame([[1, 2, 3]], index=["r"], columns=keys)
        np.testing.assert_array_equal(self.db["M"].numpy(), [[[1, 3], [2, np.nan]]])
        for tuples in ([("a", 1), ("a", 1)], [("a", np.nan), ("a", 1)]):
            with self.assertRaises(ValueError):
                self.db["M"] = pd.Series([1, 2], index=pd.MultiIndex.from_tuples(tuples))

    def test_missing_values(self):
        self.db["S"] = pd.Series([1, None, 3], dtype="Int64")
        np.testing.assert_array_equal(self.db["S"].numpy(), [1, np.nan, 3])
        with self.assertRaises(ValueError):
            self.db["S"] = pd.DataFrame({"a": [1], "b": ["text"]})

    def test_zones_and_years(self):
        self.db["Z"] = pd.Series([1, 2], index=pd.date_range("2024", periods=2, tz="Europe/Oslo"))
        self.assertEqual(self.db["Z"].names[0][0], "2024-01-01 00:00:00+01:00")
        self.db.execute("CREATE TENSOR Far (year FROM '1000-01-01' TO '9000-01-01' STEP '1000 years')")
        self.assertEqual(self.db["Far"].df().index[8], "9000-01-01")


@unittest.skipIf(xr is None, "there is no xarray")
class DataArrays(Names):
    def test_to_and_from(self):
        array = self.db["Sold"].to_xarray()
        self.assertEqual((array.dims, array.name), (("city", "day"), "Sold"))
        self.assertEqual(array.sel(city="Oslo", day="2024-01-31"), 1)
        self.db["Again"] = array
        xr.testing.assert_identical(self.db["Again"].to_xarray(), array.rename("Again"))
        self.db["plain"] = xr.DataArray(self.sold, dims=("row", "col"))
        self.assertEqual((self.db["plain"].labels, self.db["plain"].names), (("row", "col"), (None, None)))
        self.assertEqual(dict(self.db["plain"].to_xarray().coords), {})
        with self.assertRaises(ValueError):
            self.db["Z"] = array.stack(both=("city", "day"))


if __name__ == "__main__":
    unittest.main()
