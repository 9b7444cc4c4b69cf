#!/usr/bin/python3
"""Runs NumPy's own tests of einsum and einsum_path with eindb's functions in the place of NumPy's."""
import os
import sys
import unittest

import eindb
import numpy

try:
    import hypothesis  # noqa: F401: NumPy's configuration of pytest imports it
    import pytest
except ImportError:
    pytest = None

SUITE = os.path.join(os.path.dirname(numpy.core.__file__), "tests", "test_einsum.py")
# Tests that do not hold for eindb, each with its reason. There are none: longdouble, which eindb lacks, is left to NumPy.
EXCEPTIONS = {}


@unittest.skipIf(pytest is None or not os.path.exists(SUITE), "there is no pytest or hypothesis, or NumPy has come without its tests")
class NumPySuite(unittest.TestCase):
    def test_it_passes(self):
        originals = numpy.einsum, numpy.einsum_path
        numpy.einsum, numpy.einsum_path = eindb.einsum, eindb.einsum_path
        try:
            deselected = [f"--deselect={SUITE}::{name}" for name in EXCEPTIONS]
            status = pytest.main(["-q", "-p", "no:cacheprovider", "-W", "ignore", "--tb=short", SUITE, *deselected])
        finally:
            numpy.einsum, numpy.einsum_path = originals
        self.assertEqual(status, 0)


if __name__ == "__main__":
    sys.exit(unittest.main())
