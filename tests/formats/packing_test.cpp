// Values that netCDF's attributes say to be packed: what is read, in which type, and what is refused.

#include "storage/formats/packing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "storage/formats/hdf5_reader.hpp"
#include "tests/formats/hdf5_test_file.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class PackingTest : public ::testing::Test {
 protected:
  /// Makes a file with the data set "x".
  template <class T>
  void make(hid_t type, hid_t memory_type, const std::vector<T>& values) {
    file.emplace(path);
    file->add("x", type, {values.size()}, memory_type, values.data());
  }

  template <class T>
  void attribute(const char* name, hid_t type, hid_t memory_type, const std::vector<T>& values) {
    const hsize_t count = values.size();
    const Hdf5Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    const Hdf5Handle made(
        H5Acreate_by_name(file->id(), "x", name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    ASSERT_GE(H5Awrite(made.get(), memory_type, values.data()), 0);
  }
  void real(const char* name, double value, hid_t type = H5T_IEEE_F64LE) {
    attribute<double>(name, type, H5T_NATIVE_DOUBLE, {value});
  }
  void integer(const char* name, std::int64_t value, hid_t type = H5T_STD_I16LE) {
    attribute<std::int64_t>(name, type, H5T_NATIVE_INT64, {value});
  }

  Tile read(PackedValues values = PackedValues::Unpack) {
    file.reset();
    Hdf5Reader reader(path, "x", 256 << 20, nullptr, values);
    return reader.read_block(std::vector<std::int64_t>(reader.shape().rank(), 0), reader.shape());
  }

  template <class T>
  static void expect(const Tile& tile, const std::vector<double>& expected) {
    ASSERT_EQ(tile.dtype(), dtype_of<T>);
    ASSERT_EQ(tile.shape().element_count(), static_cast<std::int64_t>(expected.size()));
    for (std::size_t n = 0; n < expected.size(); ++n) {
      const auto value = tile.data<T>()[n];
      if (std::isnan(expected[n])) EXPECT_TRUE(std::isnan(static_cast<double>(value))) << n;
      else EXPECT_EQ(value, static_cast<T>(expected[n])) << n;
    }
  }

  ScratchDirectory scratch;
  std::string path = scratch.file("x.h5");
  std::optional<TestFile> file;
};

TEST_F(PackingTest, ScaledIntegersAreReals) {
  const std::vector<std::int64_t> stored{-999, 0, 1, 30000};
  const auto make_packed = [&](hid_t type, hid_t attributes) {
    make(type, H5T_NATIVE_INT64, stored);
    real("scale_factor", 0.25, attributes);
    real("add_offset", 100, attributes);
    integer("_FillValue", -999);
  };
  const std::vector<double> meant{kNan, 100, 100.25, 7600};
  // Both conventions: FLOAT32 only for 16 bits or fewer.
  make_packed(H5T_STD_I16LE, H5T_IEEE_F32LE);
  expect<float>(read(), meant);
  make_packed(H5T_STD_I16BE, H5T_IEEE_F64BE);
  expect<double>(read(), meant);
  make_packed(H5T_STD_I32LE, H5T_IEEE_F32LE);
  expect<double>(read(), meant);
  make_packed(H5T_STD_I32LE, H5T_STD_I32LE);  // the scale becomes 0
  expect<double>(read(), {kNan, 100, 100, 100});
  make_packed(H5T_STD_I16LE, H5T_IEEE_F64LE);
  expect<std::int64_t>(read(PackedValues::Keep), {-999, 0, 1, 30000});
}

TEST_F(PackingTest, AScaleOrAnOffsetAlone) {
  make<std::int64_t>(H5T_STD_I8LE, H5T_NATIVE_INT64, {1, -2});
  real("scale_factor", 0.5);
  expect<double>(read(), {0.5, -1});
  make<std::int64_t>(H5T_STD_I8LE, H5T_NATIVE_INT64, {1, -2});
  real("add_offset", 0.5, H5T_IEEE_F32LE);
  expect<float>(read(), {1.5, -1.5});
  make<double>(H5T_IEEE_F32LE, H5T_NATIVE_DOUBLE, {1, -2});
  real("add_offset", 0.5, H5T_IEEE_F64LE);
  expect<double>(read(), {1.5, -1.5});
  make<double>(H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {1, -2});
  real("scale_factor", 3, H5T_IEEE_F32LE);
  expect<double>(read(), {3, -6});
}

TEST_F(PackingTest, MissingFloatsAreNan) {
  const std::vector<double> stored{1, 1e20, -1e30, 4, kNan};
  make(H5T_IEEE_F32LE, H5T_NATIVE_DOUBLE, stored);
  real("_FillValue", 1e20, H5T_IEEE_F32LE);
  real("missing_value", -1e30);  // in more digits than are stored
  expect<float>(read(), {1, kNan, kNan, 4, kNan});
  make(H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, stored);
  real("_FillValue", kNan);
  attribute<double>("missing_value", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {1, 4});
  expect<double>(read(), {kNan, 1e20, -1e30, kNan, kNan});
}

TEST_F(PackingTest, MissingIntegersAreRefusedAndOthersKept) {
  make<std::int64_t>(H5T_STD_I32LE, H5T_NATIVE_INT64, {1, -999});
  integer("_FillValue", -999);
  EXPECT_ERROR(read(), ErrorKind::Value, "data set 'x' has missing cells (_FillValue -999), which INT64 cannot hold");
  expect<std::int64_t>(read(PackedValues::Keep), {1, -999});
  make<std::int64_t>(H5T_STD_I32LE, H5T_NATIVE_INT64, {1, -998});
  integer("_FillValue", -999);
  real("missing_value", 1.5);  // no integer is that
  expect<std::int64_t>(read(), {1, -998});
  make<std::int64_t>(H5T_STD_I32LE, H5T_NATIVE_INT64, {1, 7});
  real("missing_value", 7);
  EXPECT_ERROR(read(), ErrorKind::Value, "(missing_value 7.0)");
  make<std::int64_t>(H5T_STD_I32LE, H5T_NATIVE_INT64, {1, 0});
  real("missing_value", kNan);
  expect<std::int64_t>(read(), {1, 0});
}

TEST_F(PackingTest, UnsignedIntegersOf64Bits) {
  const auto largest = std::numeric_limits<std::uint64_t>::max();
  const auto make_fill = [&](std::uint64_t fill) {
    make<std::uint64_t>(H5T_STD_U64LE, H5T_NATIVE_UINT64, {1, largest});
    attribute<std::uint64_t>("_FillValue", H5T_STD_U64LE, H5T_NATIVE_UINT64, {fill});
  };
  make_fill(largest);
  EXPECT_ERROR(read(), ErrorKind::Value, "missing cells (_FillValue 18446744073709551615)");
  make_fill(7);
  EXPECT_ERROR(read(), ErrorKind::Value, "an unsigned integer beyond INT64");
  make_fill(largest);
  real("scale_factor", 2);
  expect<double>(read(), {2, kNan});
  make_fill(7);
  real("scale_factor", 2);
  expect<double>(read(), {2, 0x1p65});
}

TEST_F(PackingTest, AttributesThatAreNoneOfTheConventionsAreRefused) {
  const auto fails = [&](const std::string& what) {
    const auto error = error_of([&] { read(); });
    EXPECT_EQ(describe(error.kind()), describe(ErrorKind::Unsupported));
    EXPECT_NE(error.message().find("data set 'x' has an attribute " + what), std::string::npos) << error.message();
    EXPECT_NE(error.hint().find("RAW"), std::string::npos);
    EXPECT_EQ(read(PackedValues::Keep).shape(), Shape({2}));
  };
  const auto make_plain = [&] { make<std::int64_t>(H5T_STD_I16LE, H5T_NATIVE_INT64, {1, 2}); };
  make_plain();
  attribute<double>("scale_factor", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {1, 2});
  fails("scale_factor of 2 numbers");
  make_plain();
  real("add_offset", kNan);
  fails("add_offset that is not finite");
  make_plain();
  const Hdf5Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
  attribute<char>("_FillValue", text.get(), text.get(), {'7'});
  fails("_FillValue that is no number");
  make_plain();
  attribute<char>("_Unsigned", text.get(), text.get(), {'t'});
  fails("_Unsigned, by which");
  make_plain();
  attribute<double>("missing_value", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, std::vector<double>(65));
  fails("missing_value of 65 numbers");
  const auto complex = hdf5_memory_type(DType::Complex128);
  file.emplace(path);
  const double parts[] = {1, 2, 3, 4};
  file->add("x", complex.get(), {2}, complex.get(), parts);
  real("scale_factor", 2);
  fails("scale_factor, which complex numbers cannot have");
}

TEST_F(PackingTest, BlocksAndEmptyArrays) {
  make<std::int64_t>(H5T_STD_I16LE, H5T_NATIVE_INT64, {1, 2, 3, 4});
  real("scale_factor", 10);
  file.reset();
  {
    Hdf5Reader reader(path, "x", 256 << 20);
    EXPECT_EQ(reader.dtype(), DType::Float64);
    expect<double>(reader.read_block({2}, Shape({2})), {30, 40});
  }
  make<std::int64_t>(H5T_STD_I16LE, H5T_NATIVE_INT64, {});
  real("scale_factor", 10);
  expect<double>(read(), {});
}

}  // namespace
}  // namespace eindb
