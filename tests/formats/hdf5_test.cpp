// HDF5 files, built by libhdf5 itself: types, layouts, what is refused, and files that lie.

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "storage/formats/hdf5_library.hpp"
#include "storage/formats/hdf5_listing.hpp"
#include "storage/formats/hdf5_reader.hpp"
#include "storage/formats/hdf5_writer.hpp"
#include "tensor/dense_tensor.hpp"
#include "tests/formats/hdf5_test_file.hpp"
#include "tests/storage/random_tile.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kMemory = 256 << 20;

TEST(Hdf5Error, AFailureOfTheSystemIsNoFaultOfTheFile) {
  prepare_hdf5();
  const auto fail = [](const char* words) {
    H5Epush2(H5E_DEFAULT, __FILE__, "test", __LINE__, H5E_ERR_CLS, H5E_FILE, H5E_BADFILE, "%s", words);
    return hdf5_read_error("x.h5", " is no valid HDF5 file");
  };
  const auto disk = fail("unable to fstat file, errno = 5, error message = 'Input/output error'");
  EXPECT_EQ(disk.kind(), ErrorKind::Io);
  EXPECT_TRUE(disk.message().starts_with("cannot read x.h5: unable to fstat file")) << disk.message();
  const auto file = fail("file signature not found");
  EXPECT_EQ(file.kind(), ErrorKind::Corrupt);
  EXPECT_EQ(file.message(), "x.h5 is no valid HDF5 file: file signature not found");
}

class Hdf5Test : public ::testing::Test {
 protected:
  Tile read_all(const std::string& name = "", std::int64_t memory = kMemory) const {
    Hdf5Reader reader(path, name, memory);
    return reader.read_block(std::vector<std::int64_t>(reader.shape().rank(), 0), reader.shape());
  }

  // "name file-type type shape; " of each data set, without the type of those that cannot be read.
  std::string listed() const {
    std::string out;
    for (const auto& entry : list_hdf5(path, PackedValues::Unpack, nullptr))
      out += entry.name + " " + entry.file_type + (entry.type ? " " + std::string(name_of(*entry.type)) : "") + " " +
             entry.shape.to_string() + "; ";
    return out;
  }

  template <class Wide>
  void expect_values(const std::string& name, const std::vector<Wide>& expected) {
    SCOPED_TRACE(name);
    const auto tile = read_all(name);
    ASSERT_EQ(tile.dtype(), dtype_of<Wide>);
    ASSERT_EQ(tile.shape().element_count(), static_cast<std::int64_t>(expected.size()));
    EXPECT_EQ(std::vector<Wide>(tile.data<Wide>(), tile.data<Wide>() + expected.size()), expected);
  }

  Hdf5Handle properties(const std::vector<hsize_t>& chunk = {}) const {
    Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    if (!chunk.empty()) H5Pset_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data());
    return creation;
  }

  ScratchDirectory scratch;
  std::string path = scratch.file("x.h5");
  std::mt19937_64 random{24};
};

TEST_F(Hdf5Test, EveryTypeInBothByteOrders) {
  const std::vector<double> reals{0.5, -3, std::numeric_limits<double>::infinity()};
  const std::vector<std::int64_t> whole{-100, 0, 100};
  const std::vector<std::int64_t> natural{0, 7, 200};
  {
    TestFile file(path);
    for (const auto& [name, type] : std::vector<std::pair<std::string, hid_t>>{
             {"f4l", H5T_IEEE_F32LE}, {"f4b", H5T_IEEE_F32BE}, {"f8l", H5T_IEEE_F64LE}, {"f8b", H5T_IEEE_F64BE}})
      file.add(name, type, {3}, H5T_NATIVE_DOUBLE, reals.data());
    for (const auto& [name, type] : std::vector<std::pair<std::string, hid_t>>{
             {"i1", H5T_STD_I8LE}, {"i2", H5T_STD_I16BE}, {"i4", H5T_STD_I32LE}, {"i8", H5T_STD_I64BE}})
      file.add(name, type, {3}, H5T_NATIVE_INT64, whole.data());
    for (const auto& [name, type] : std::vector<std::pair<std::string, hid_t>>{
             {"u1", H5T_STD_U8BE}, {"u2", H5T_STD_U16LE}, {"u4", H5T_STD_U32BE}, {"u8", H5T_STD_U64BE}})
      file.add(name, type, {3}, H5T_NATIVE_INT64, natural.data());
  }
  for (const char* name : {"f8l", "f8b"}) expect_values<double>(name, reals);
  for (const char* name : {"f4l", "f4b"})
    expect_values<float>(name, {0.5F, -3, std::numeric_limits<float>::infinity()});
  for (const char* name : {"i1", "i2", "i4", "i8"}) expect_values<std::int64_t>(name, whole);
  for (const char* name : {"u1", "u2", "u4", "u8"}) expect_values<std::int64_t>(name, natural);
}

TEST_F(Hdf5Test, HalfPrecisionTruthValuesAndComplexNumbers) {
  {
    TestFile file(path);
    Hdf5Handle half(H5Tcopy(H5T_IEEE_F32BE), H5Tclose);
    H5Tset_fields(half.get(), 15, 10, 5, 0, 10);
    H5Tset_size(half.get(), 2);
    H5Tset_ebias(half.get(), 15);
    const std::vector<float> reals{1, -2, 65504, 0x1p-24F, std::numeric_limits<float>::infinity()};
    file.add("half", half.get(), {5}, H5T_NATIVE_FLOAT, reals.data());

    const Hdf5Handle truth(H5Tenum_create(H5T_STD_I8LE), H5Tclose);
    const std::int8_t values[] = {0, 1};
    H5Tenum_insert(truth.get(), "FALSE", &values[0]);
    H5Tenum_insert(truth.get(), "TRUE", &values[1]);
    file.add("truth", truth.get(), {2}, truth.get(), values);

    // As h5py has them, and with the parts the other way round and room between.
    const auto type = hdf5_memory_type(DType::Complex128);
    const double parts[] = {1, 2, 3, 4};
    file.add("complex", type.get(), {2}, type.get(), parts);
    const Hdf5Handle odd(H5Tcreate(H5T_COMPOUND, 24), H5Tclose);
    H5Tinsert(odd.get(), "i", 0, H5T_IEEE_F32BE);
    H5Tinsert(odd.get(), "r", 12, H5T_IEEE_F32BE);
    file.add("odd", odd.get(), {2}, type.get(), parts);
  }
  expect_values<float>("half", {1, -2, 65504, 0x1p-24F, std::numeric_limits<float>::infinity()});
  expect_values<std::int64_t>("truth", {0, 1});
  expect_values<std::complex<double>>("complex", {{1, 2}, {3, 4}});
  expect_values<std::complex<float>>("odd", {{1, 2}, {3, 4}});
}

TEST_F(Hdf5Test, UnsignedValuesBeyondInt64AreNamed) {
  const std::uint64_t values[] = {1, UINT64_MAX};
  TestFile(path).add("u", H5T_STD_U64LE, {2}, H5T_NATIVE_UINT64, values);
  EXPECT_ERROR(read_all(), ErrorKind::Value, "'u' holds an unsigned integer beyond INT64");
}

TEST_F(Hdf5Test, DataSetsAreChosenByPath) {
  TestFile(path).add_doubles("/a/b/c", {1});
  for (const char* name : {"", "a/b/c", "/a/b/c", "//a/b/c"}) expect_values<double>(name, {1});
  {
    TestFile file(path);
    file.add_doubles("/a/b/c", {1});
    file.add_doubles("d", {2});
    H5Lcreate_soft("/a/b/c", file.id(), "soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/loop", file.id(), "loop", H5P_DEFAULT, H5P_DEFAULT);
  }
  expect_values<double>("d", {2});
  expect_values<double>("soft", {1});
  EXPECT_ERROR(read_all(), ErrorKind::Value, "holds 2 arrays: 'a/b/c', 'd'");
  for (const char* name : {"e", "a", "a/b", "loop"}) EXPECT_ERROR(read_all(name), ErrorKind::UnknownName, "no array");
  { const TestFile empty(path); }
  EXPECT_ERROR(read_all(), ErrorKind::Value, "holds no array");
}

TEST_F(Hdf5Test, BlocksOfEveryLayout) {
  const Shape shape({40, 30, 7});
  const auto dense = random_tile(random, DType::Float64, shape);
  const TileGrid grid(shape, {3, 2, 2});
  const auto tiles = split(dense, grid);
  const auto compressed = properties({16, 9, 7});
  H5Pset_shuffle(compressed.get());
  H5Pset_deflate(compressed.get(), 6);
  H5Pset_fletcher32(compressed.get());
  const auto compact = properties();
  H5Pset_layout(compact.get(), H5D_COMPACT);
  const auto chunked = properties({40, 1, 3});
  for (const hid_t creation : {hid_t{H5P_DEFAULT}, compressed.get(), chunked.get(), compact.get()}) {
    if (creation == compact.get()) {  // at most 64 KiB: a smaller one
      TestFile(path).add_doubles("x", {1, 2, 3}, creation);
      expect_values<double>("x", {1, 2, 3});
      continue;
    }
    TestFile(path).add("x", H5T_IEEE_F64BE, {40, 30, 7}, H5T_NATIVE_DOUBLE, dense.bytes().data(), creation);
    Hdf5Reader reader(path, "x", kMemory);
    ASSERT_EQ(reader.shape(), shape);
    for (std::int64_t id = grid.tile_count(); id-- > 0;) {
      const auto key = grid.key_of(id);
      EXPECT_TRUE(same_tile(reader.read_block(grid.tile_begin(key), grid.tile_shape(key)),
                            *tiles[static_cast<std::size_t>(id)]));
    }
  }
}

TEST_F(Hdf5Test, ChunksOfAFewBytesTakeLittleMemory) {
  std::vector<double> values(60'000);
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = static_cast<double>(n);
  TestFile(path).add("x", H5T_IEEE_F64LE, {300, 200}, H5T_NATIVE_DOUBLE, values.data(), properties({1, 3}).get());
  expect_values<double>("x", values);
}

TEST_F(Hdf5Test, ScalarsEmptyArraysAndValuesThatWereNeverWritten) {
  const double seven = 7;
  {
    TestFile file(path);
    file.add("scalar", H5T_IEEE_F64LE, {}, H5T_NATIVE_DOUBLE, &seven);
    file.add("empty", H5T_IEEE_F64LE, {3, 0}, H5T_NATIVE_DOUBLE, nullptr);
    file.add("unwritten", H5T_IEEE_F64LE, {2}, H5T_NATIVE_DOUBLE, nullptr);
    const auto filled = properties({2});
    H5Pset_fill_value(filled.get(), H5T_NATIVE_DOUBLE, &seven);
    file.add("filled", H5T_IEEE_F64LE, {3}, H5T_NATIVE_DOUBLE, nullptr, filled.get());
  }
  EXPECT_EQ(read_all("scalar").shape().rank(), 0U);
  expect_values<double>("scalar", {7});
  EXPECT_EQ(read_all("empty").shape(), Shape({3, 0}));
  expect_values<double>("unwritten", {0, 0});
  expect_values<double>("filled", {7, 7, 7});
}

TEST_F(Hdf5Test, ValuesInOtherFilesAreRefused) {
  TestFile(scratch.file("other.h5")).add_doubles("secret", {1, 2});
  write_file(scratch.file("raw"), std::string(16, 'x'));
  {
    const TestFile file(path);
    H5Lcreate_external(scratch.file("other.h5").c_str(), "/secret", file.id(), "link", H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t two = 2;
    const Hdf5Handle space(H5Screate_simple(1, &two, nullptr), H5Sclose);
    const auto external = properties();
    H5Pset_external(external.get(), scratch.file("raw").c_str(), 0, 16);
    const auto virtual_set = properties();
    H5Pset_virtual(virtual_set.get(), space.get(), scratch.file("other.h5").c_str(), "secret", space.get());
    for (const auto& [name, creation] :
         {std::pair("external", external.get()), std::pair("virtual", virtual_set.get())}) {
      const Hdf5Handle set(H5Dcreate2(file.id(), name, H5T_IEEE_F64LE, space.get(), H5P_DEFAULT, creation, H5P_DEFAULT),
                           H5Dclose);
      ASSERT_TRUE(set);
    }
  }
  EXPECT_ERROR(read_all("link"), ErrorKind::UnknownName, "no array 'link'");
  EXPECT_ERROR(read_all("external"), ErrorKind::Unsupported, "in an external file");
  EXPECT_ERROR(read_all("virtual"), ErrorKind::Unsupported, "is virtual");
  EXPECT_EQ(listed(), "external float64 [2]; virtual float64 [0]; ");
}

TEST_F(Hdf5Test, OtherElementsAndShapesAreRefused) {
  {
    TestFile file(path);
    const Hdf5Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
    const Hdf5Handle pair(H5Tcreate(H5T_COMPOUND, 16), H5Tclose);
    H5Tinsert(pair.get(), "x", 0, H5T_IEEE_F64LE);
    H5Tinsert(pair.get(), "y", 8, H5T_IEEE_F64LE);
    const Hdf5Handle odd(H5Tcopy(H5T_STD_I32LE), H5Tclose);
    H5Tset_precision(odd.get(), 20);
    for (const auto& [name, type] : std::vector<std::pair<std::string, hid_t>>{{"text", text.get()},
                                                                               {"pair", pair.get()},
                                                                               {"odd", odd.get()},
                                                                               {"long double", H5T_NATIVE_LDOUBLE},
                                                                               {"bits", H5T_STD_B8LE},
                                                                               {"reference", H5T_STD_REF_OBJ}})
      file.add(name, type, {1}, type, nullptr);
    const Hdf5Handle none(H5Screate(H5S_NULL), H5Sclose);
    const Hdf5Handle null(
        H5Dcreate2(file.id(), "null", H5T_IEEE_F64LE, none.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
  }
  for (const char* name : {"text", "pair", "odd", "long double", "bits", "reference"})
    EXPECT_ERROR(read_all(name), ErrorKind::Unsupported, "elements that are no numbers");
  EXPECT_ERROR(read_all("null"), ErrorKind::Unsupported, "no values and no shape");
  EXPECT_EQ(listed(),
            "bits bits8 [1]; long double float128 [1]; null float64 [0]; odd int32 [1]; pair compound [1]; "
            "reference reference [1]; text string [1]; ");
}

TEST_F(Hdf5Test, DataSetsAreListedWithTheirTypes) {
  {
    TestFile file(path);
    file.add_doubles("group/a", {1, 2, 3});
    file.add("b", H5T_STD_U16BE, {2, 3}, H5T_NATIVE_USHORT, nullptr);
    file.add("z", hdf5_memory_type(DType::Complex64).get(), {}, H5T_NATIVE_FLOAT, nullptr);
    file.add("\xFF", H5T_STD_I8LE, {1}, H5T_NATIVE_CHAR, nullptr);
  }
  EXPECT_EQ(listed(),
            "b uint16 UINT16 [2, 3]; group/a float64 FLOAT64 [3]; z complex64 COMPLEX64 []; \\xFF int8 [1]; ");
  { const TestFile empty(scratch.file("empty.h5")); }
  EXPECT_TRUE(list_hdf5(scratch.file("empty.h5"), PackedValues::Unpack, nullptr).empty());
}

TEST_F(Hdf5Test, LargeChunksAndBombsAreRefusedBeforeTheyAreRead) {
  {
    TestFile file(path);
    file.add("chunk", H5T_IEEE_F64LE, {1 << 28}, H5T_NATIVE_DOUBLE, nullptr, properties({1 << 28}).get());
    file.add("bomb", H5T_IEEE_F64LE, {hsize_t{1} << 56}, H5T_NATIVE_DOUBLE, nullptr, properties({1024}).get());
    file.add("overflow", H5T_STD_I8LE, {hsize_t{1} << 62}, H5T_NATIVE_DOUBLE, nullptr, properties({1024}).get());
  }
  EXPECT_ERROR(read_all("chunk"), ErrorKind::Corrupt, "claims 2147483648 bytes of values");
  EXPECT_ERROR(read_all("bomb"), ErrorKind::Corrupt, "claims 576460752303423488 bytes of values");
  EXPECT_ERROR(read_all("overflow"), ErrorKind::Corrupt, "overflows");
  TestFile(path).add("chunk", H5T_IEEE_F64LE, {1 << 20}, H5T_NATIVE_DOUBLE, nullptr, properties({1 << 20}).get());
  EXPECT_EQ(read_all("chunk").byte_size(), 8U << 20);
  EXPECT_ERROR(read_all("chunk", 16 << 20), ErrorKind::Unsupported, "chunks of 8388608 bytes");
}

TEST_F(Hdf5Test, FiltersThatAreNotBuiltInAreNamed) {
  const auto creation = properties({4});
  H5Pset_filter(creation.get(), 32001, H5Z_FLAG_OPTIONAL, 0, nullptr);
  TestFile(path).add_doubles("x", {1, 2, 3, 4}, creation.get());
  EXPECT_ERROR(read_all(), ErrorKind::Unsupported, "compressed with filter 32001");
}

TEST_F(Hdf5Test, FilesThatAreNoneOrEndEarly) {
  TestFile(path).add_doubles("x", {1, 2, 3, 4});
  const auto whole = read_file(path);
  for (std::size_t size = 0; size < whole.size(); size += 61) {
    std::filesystem::remove(path);
    write_file(path, whole.substr(0, size));
    EXPECT_ERROR(read_all("x"), ErrorKind::Corrupt, path);
    EXPECT_ERROR(listed(), ErrorKind::Corrupt, path);
  }
  EXPECT_ERROR(read_all("../x.h5"), ErrorKind::Corrupt, path);
  EXPECT_ERROR(Hdf5Reader(scratch.file("none.h5"), "", kMemory), ErrorKind::Io, "none.h5: No such file");
  EXPECT_ERROR(Hdf5Reader(scratch.file(""), "", kMemory), ErrorKind::Io, "it is a directory");
}

TEST_F(Hdf5Test, ChangedBytesGiveATensorOrAnError) {
  {
    TestFile file(path);
    file.add_doubles("g/x", {1, 2, 3, 4});
    const auto compressed = properties({3, 2});
    H5Pset_shuffle(compressed.get());
    H5Pset_deflate(compressed.get(), 6);
    const std::vector<double> values(20, 1.5);
    file.add("z", H5T_IEEE_F64LE, {5, 4}, H5T_NATIVE_DOUBLE, values.data(), compressed.get());
  }
  const auto whole = read_file(path);
  for (int n = 0; n < 400; ++n) {
    auto changed = whole;
    for (int times = static_cast<int>(random() % 4); times >= 0; --times)
      changed[random() % changed.size()] = static_cast<char>(random() % 2 == 0 ? random() : 0xFF);
    std::filesystem::remove(path);
    write_file(path, changed);
    try {
      Hdf5Reader reader(path, n % 2 == 0 ? "g/x" : "z", kMemory);
      if (reader.shape().element_count() < 100)
        reader.read_block(std::vector<std::int64_t>(reader.shape().rank(), 0), reader.shape());
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::Internal) << error.message();
    }
    try {
      listed();
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::Internal) << error.message();
    }
  }
}

TEST_F(Hdf5Test, WriterRoundTripsInAnyOrder) {
  Hdf5Layout chunked;
  chunked.chunk = {2, 4, 3};
  Hdf5Layout deflated = chunked;
  deflated.deflate = true;
  for (const auto& layout : {Hdf5Layout{}, chunked, deflated}) {
    for (const auto type : kAllTypes) {
      const Shape shape({5, 6, 3});
      const auto dense = random_tile(random, type, shape);
      const TileGrid grid(shape, {2, 3, 2});
      const auto tiles = split(dense, grid);
      Hdf5Writer writer(path, {"/g/h/x", type, shape, layout}, Overwrite::Yes);
      for (std::int64_t id = grid.tile_count(); id-- > 0;)
        writer.write_block(grid.tile_begin(grid.key_of(id)), *tiles[static_cast<std::size_t>(id)]);
      writer.commit();
      EXPECT_TRUE(same_tile(read_all("g/h/x"), dense));
    }
  }
  EXPECT_EQ(scratch.file_count(), 1U);
}

TEST_F(Hdf5Test, WriterOfScalarsNothingAndZeros) {
  for (const auto& extents : std::vector<std::vector<std::int64_t>>{{}, {0}, {3, 0}, {4}}) {
    Hdf5Layout layout;
    layout.chunk.emplace(extents.size(), 2);
    layout.deflate = true;
    const auto dense = random_tile(random, DType::Float64, Shape(extents));
    Hdf5Writer writer(path, {"x", DType::Float64, dense.shape(), layout}, Overwrite::Yes);
    writer.write_block(std::vector<std::int64_t>(extents.size(), 0), dense);
    writer.commit();
    EXPECT_TRUE(same_tile(read_all(), dense));
    Hdf5Writer(path, {"x", DType::Float64, dense.shape(), {}}, Overwrite::Yes).commit();
    EXPECT_TRUE(read_all().is_all_zero());
  }
}

TEST_F(Hdf5Test, WriterNamesAndPaths) {
  const auto write = [](const std::string& target, const std::string& name) {
    Hdf5Writer(target, {name, DType::Float64, Shape({2}), {}}, Overwrite::Yes);
  };
  for (const char* name : {"", "/", "a/", "a//b", "./a", "a/.."})
    EXPECT_ERROR(write(path, name), ErrorKind::Value, "is no name of a data set");
  EXPECT_ERROR(write(scratch.file("no/x.h5"), "x"), ErrorKind::Io, "no/x.h5");
  EXPECT_ERROR(write("/dev/null", "x"), ErrorKind::Io, "not a regular file");
  EXPECT_ERROR(Hdf5Writer(path, {"x", DType::Float64, Shape(std::vector<std::int64_t>(33, 1)), {}}),
               ErrorKind::Unsupported, "32 dimensions");
  write_file(path, "old");
  write(path, "x");  // never committed
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(scratch.file_count(), 1U);
}

pid_t only_child() {
  std::ifstream children("/proc/self/task/" + std::to_string(::gettid()) + "/children");
  pid_t child = -1;
  children >> child;
  return child;
}

TEST_F(Hdf5Test, TheEndOfTheWritersProcessIsAnErrorAndLeavesNothing) {
  const auto end_by = [&](int signal) {
    Hdf5Writer writer(path, {"x", DType::Float64, Shape({2}), {}}, Overwrite::Yes);
    ASSERT_GT(only_child(), 0);
    ::kill(only_child(), signal);
    writer.commit();
  };
  write_file(path, "old");
  for (const int signal : {SIGKILL, SIGSEGV}) EXPECT_ERROR(end_by(signal), ErrorKind::MemoryLimit, "libhdf5 crashed");
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(scratch.file_count(), 1U);
}

TEST_F(Hdf5Test, EqualTensorsGiveEqualFiles) {
  const Hdf5NewDataset dataset{"g/x", DType::Float64, Shape({2}), {}};
  Hdf5Writer(path, dataset).commit();
  Hdf5Writer(scratch.file("y.h5"), dataset).commit();
  EXPECT_EQ(read_file(scratch.file("y.h5")), read_file(path));
}

}  // namespace
}  // namespace eindb
