// NPY files: all types, orders and versions that NumPy writes, blocks of them, and files that lie.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>

#include "storage/formats/npy_reader.hpp"
#include "storage/formats/npy_writer.hpp"
#include "tensor/dense_tensor.hpp"
#include "tests/storage/random_tile.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

/// A file of the format's version `major` with this dictionary and these bytes.
std::string npy(const std::string& dictionary, const std::string& data, int major = 1) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(major);
  out += '\0';
  const auto length = static_cast<std::uint32_t>(dictionary.size());
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) out += static_cast<char>(length >> (8U * static_cast<unsigned>(i)));
  return out + dictionary + data;
}

std::string dictionary(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape +
         ", }\n";
}

template <class T>
std::string bytes_of(const std::vector<T>& values, bool swapped = false) {
  std::string out;
  for (const auto& value : values) {
    std::string bytes(sizeof(T), '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    if (swapped) std::reverse(bytes.begin(), bytes.end());
    out += bytes;
  }
  return out;
}

template <class T>
std::vector<T> elements_of(const Tile& tile) {
  const T* values = tile.data<T>();
  return std::vector<T>(values, values + tile.shape().element_count());
}

class NpyTest : public ::testing::Test {
 protected:
  Tile read_all(const std::string& contents) {
    write_file(path, contents);
    const NpyReader reader(path);
    return reader.read_block(std::vector<std::int64_t>(reader.shape().rank(), 0), reader.shape());
  }

  template <class Wide>
  void expect_values(const std::string& descr, const std::string& data, const std::vector<Wide>& expected) {
    SCOPED_TRACE(descr);
    const auto tile = read_all(npy(dictionary(descr, "(" + std::to_string(expected.size()) + ",)"), data));
    ASSERT_EQ(tile.dtype(), dtype_of<Wide>);
    EXPECT_EQ(elements_of<Wide>(tile), expected);
  }

  template <class Narrow, class Wide>
  void expect_type(const std::string& code, const std::vector<Narrow>& values) {
    const std::vector<Wide> expected(values.begin(), values.end());
    expect_values<Wide>("<" + code, bytes_of(values), expected);
    expect_values<Wide>(">" + code, bytes_of(values, true), expected);
  }

  void expect_fault(const std::string& contents, ErrorKind kind, const std::string& text) {
    SCOPED_TRACE(text);
    write_file(path, contents);
    EXPECT_ERROR(NpyReader{path}, kind, text);
    EXPECT_ERROR(NpyReader{path}, kind, path);
  }

  ScratchDirectory scratch;
  std::string path = scratch.file("x.npy");
  std::mt19937_64 random{21};
};

TEST_F(NpyTest, EveryTypeInBothByteOrders) {
  expect_type<float, float>("f4", {0.5F, -3, std::numeric_limits<float>::infinity()});
  expect_type<double, double>("f8", {0.1, -1e300, 0});
  expect_type<std::int8_t, std::int64_t>("i1", {-128, 0, 127});
  expect_type<std::int16_t, std::int64_t>("i2", {-32768, 5, 32767});
  expect_type<std::int32_t, std::int64_t>("i4", {INT32_MIN, 5, INT32_MAX});
  expect_type<std::int64_t, std::int64_t>("i8", {INT64_MIN, 5, INT64_MAX});
  expect_type<std::uint8_t, std::int64_t>("u1", {0, 200, 255});
  expect_type<std::uint16_t, std::int64_t>("u2", {0, 40000, 65535});
  expect_type<std::uint32_t, std::int64_t>("u4", {0, 5, UINT32_MAX});
  expect_type<std::uint64_t, std::int64_t>("u8", {0, 5, static_cast<std::uint64_t>(INT64_MAX)});
  expect_values<std::int64_t>("|b1", std::string("\0\1\2", 3), {0, 1, 1});
  expect_values<std::int64_t>("|i1", "\xFF", {-1});
  expect_values<std::complex<float>>("<c8", bytes_of<float>({1, 2, 3, 4}), {{1, 2}, {3, 4}});
  expect_values<std::complex<double>>(">c16", bytes_of<double>({1, 2, 3, 4}, true), {{1, 2}, {3, 4}});
}

TEST_F(NpyTest, HalfPrecision) {
  // 1, -2, the largest, the smallest subnormal, infinity.
  expect_values<float>("<f2", bytes_of<std::uint16_t>({0x3C00, 0xC000, 0x7BFF, 0x0001, 0x7C00, 0x8000}),
                       {1, -2, 65504, 0x1p-24F, std::numeric_limits<float>::infinity(), -0.0F});
  const auto nan = read_all(npy(dictionary("<f2", "()"), bytes_of<std::uint16_t>({0x7E00})));
  EXPECT_TRUE(std::isnan(*nan.data<float>()));
}

TEST_F(NpyTest, UnsignedValuesBeyondInt64AreNamed) {
  const auto contents = npy(dictionary("<u8", "(2,)"), bytes_of<std::uint64_t>({1, UINT64_MAX}));
  EXPECT_ERROR(read_all(contents), ErrorKind::Value, "at byte " + std::to_string(contents.size() - 8));
}

TEST_F(NpyTest, EveryVersionAndSpelling) {
  const auto data = bytes_of<double>({1, 2});
  for (const int major : {1, 2, 3})
    EXPECT_EQ(read_all(npy(dictionary("<f8", "(2,)"), data, major)).data<double>()[1], 2);
  for (const char* text : {"{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"<f8\"}",
                           "{'shape': (1, 2), 'fortran_order': False, 'descr': '=f8'}",
                           "  {'descr':'f8', 'fortran_order': False , 'shape':( 2L , ),}   \n",
                           "{'descr': '<f8', 'shape': (2, 1,), 'fortran_order': True}"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(read_all(npy(text, data)).data<double>()[1], 2);
  }
}

TEST_F(NpyTest, ScalarsAndEmptyArrays) {
  const auto scalar = read_all(npy(dictionary("<f8", "()"), bytes_of<double>({7})));
  EXPECT_EQ(scalar.shape().rank(), 0U);
  EXPECT_EQ(*scalar.data<double>(), 7);
  EXPECT_EQ(read_all(npy(dictionary("<f8", "(3, 0, 4)"), "")).shape(), Shape({3, 0, 4}));
  EXPECT_EQ(read_all(npy(dictionary("<f8", "(3, 0, 4)", true), "")).byte_size(), 0U);
}

TEST_F(NpyTest, BytesAfterTheValuesAreLeftAlone) {
  EXPECT_EQ(*read_all(npy(dictionary("<f8", "()"), bytes_of<double>({7}) + "more")).data<double>(), 7);
}

/// The values of `dense` as a column-major file has them, as float64 with the other byte order.
std::string column_major(const Tile& dense) {
  std::vector<double> values;
  const auto& shape = dense.shape();
  const auto strides = shape.row_major_strides();
  std::vector<std::int64_t> reversed_extents(shape.extents().rbegin(), shape.extents().rend());
  std::vector<std::int64_t> index(shape.rank(), 0);
  do {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < index.size(); ++d) offset += index[index.size() - 1 - d] * strides[d];
    values.push_back(dense.data<double>()[offset]);
  } while (next_index(index, reversed_extents));
  return bytes_of(values, true);
}

std::string tuple(const Shape& shape) {
  std::string out = "(";
  for (const auto extent : shape.extents()) out += std::to_string(extent) + ",";
  return out + ")";
}

TEST_F(NpyTest, RandomBlocksOfRandomArraysInBothOrders) {
  for (int n = 0; n < 60; ++n) {
    std::vector<std::int64_t> extents;
    Partition parts;
    for (std::uint64_t d = random() % 5; d > 0; --d) {
      extents.push_back(static_cast<std::int64_t>(random() % 7) + 1);
      parts.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extents.back())) + 1);
    }
    const Shape shape(extents);
    const auto dense = random_tile(random, DType::Float64, shape);
    const TileGrid grid(shape, parts);
    const auto tiles = split(dense, grid);
    const bool fortran = n % 2 == 0;
    const auto row_major = std::string(reinterpret_cast<const char*>(dense.bytes().data()), dense.byte_size());
    write_file(path, npy(dictionary(fortran ? ">f8" : "<f8", tuple(shape), fortran),
                         fortran ? column_major(dense) : row_major));
    const NpyReader reader(path);
    for (std::int64_t id = 0; id < grid.tile_count(); ++id) {
      const auto key = grid.key_of(id);
      const auto block = reader.read_block(grid.tile_begin(key), grid.tile_shape(key));
      EXPECT_TRUE(same_tile(block, *tiles[static_cast<std::size_t>(id)])) << shape.to_string() << fortran;
    }
  }
}

TEST_F(NpyTest, LongLinesComeInPieces) {
  // 10 MB of 16-bit integers: longer than the read window, and converted.
  std::vector<std::int16_t> values(5'000'000);
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = static_cast<std::int16_t>(n % 30011);
  const auto tile = read_all(npy(dictionary(">i2", "(5000000,)"), bytes_of(values, true)));
  for (std::size_t n = 0; n < values.size(); n += 997) ASSERT_EQ(tile.data<std::int64_t>()[n], values[n]);
}

TEST_F(NpyTest, HostileHeaders) {
  const auto magic = std::string("\x93NUMPY");
  expect_fault("", ErrorKind::Corrupt, "magic");
  expect_fault("PK\x03\x04 a zip file", ErrorKind::Corrupt, "magic");
  expect_fault(magic, ErrorKind::Corrupt, "version at byte 6");
  expect_fault(magic + std::string("\4\0\0\0", 4), ErrorKind::Corrupt, "version at byte 6");
  expect_fault(magic + std::string("\1\0v", 3), ErrorKind::Corrupt, "length at byte 8");
  expect_fault(magic + std::string("\2\0\xFF\xFF\xFF\xFF", 6), ErrorKind::Corrupt, "header of 4294967295 bytes");
  expect_fault(npy(std::string(70000, ' '), "", 2), ErrorKind::Corrupt, "longer than any array needs");
  const auto fault = [&](const std::string& text, const std::string& message) {
    expect_fault(npy(text, std::string(64, '\0')), ErrorKind::Corrupt, message);
  };
  fault("", "expected '{' at byte 10");
  fault("{", "expected a string");
  fault("{'descr", "a string without an end");
  fault("{'descr' '<f8'}", "expected ':'");
  fault("{'descr': '<f8', 'shape': (2,)}", "'fortran_order' is missing");
  fault("{'fortran_order': False, 'shape': (2,)}", "'descr' is missing");
  fault("{'descr': '<f8', 'fortran_order': False}", "'shape' is missing");
  fault("{'descr': '<f8', 'descr': '<f8'}", "repeated key 'descr'");
  fault("{'evil': 1}", "unknown or repeated key 'evil'");
  fault(dictionary("<f8", "(2"), "expected");
  fault(dictionary("<f8", "(2)"), "expected ','");
  fault(dictionary("<f8", "(-2,)"), "a negative extent");
  fault(dictionary("<f8", "(99999999999999999999,)"), "beyond 64 bits");
  fault(dictionary("<f8", "(4611686018427387904, 4)"), "overflows");
  fault(dictionary("<f8", "(4611686018427387904,)"), "more bytes than 64 bits");
  fault(dictionary("<f8", "(1.5,)"), "expected");
  fault(dictionary("<f8", "[2]"), "expected '('");
  fault(dictionary(
            "<f8", "(" +
                       [] {
                         std::string ones;
                         for (int n = 0; n < 65; ++n) ones += "1,";
                         return ones;
                       }() +
                       ")"),
        "more than 64 dimensions");
  fault(dictionary("<f8", "(2,)") + "x", "text after the dictionary");
  fault("{'descr': '<f8', 'fortran_order': 1, 'shape': ()}", "True or False");
  fault(dictionary("", "()"), "empty element type");
}

TEST_F(NpyTest, TypesThatAreNoNumbers) {
  for (const char* descr : {"|O", "<U5", "|S3", "<M8[ns]", "<f16", "<c32", "<i3", "<f99999999999", "|V8", "q"}) {
    SCOPED_TRACE(descr);
    expect_fault(npy(dictionary(descr, "(1,)"), std::string(64, '\0')), ErrorKind::Unsupported, "elements of type");
  }
  expect_fault(npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", std::string(64, '\0')),
               ErrorKind::Unsupported, "structured");
}

TEST_F(NpyTest, TruncatedValues) {
  expect_fault(npy(dictionary("<f8", "(3,)"), bytes_of<double>({1, 2})), ErrorKind::Corrupt, "take 24 bytes");
  expect_fault(npy(dictionary("<f8", "(1000000000000,)"), "x"), ErrorKind::Corrupt, "the file ends after 1");
}

TEST_F(NpyTest, AFileThatShrinksWhileItIsRead) {
  write_file(path, npy(dictionary("<f8", "(100,)"), std::string(800, 'x')));
  const NpyReader reader(path);
  std::filesystem::resize_file(path, 500);
  EXPECT_ERROR(reader.read_block({0}, Shape({100})), ErrorKind::Corrupt, "ends at byte 500");
}

TEST_F(NpyTest, EveryPrefixOfAFileIsRefused) {
  const auto whole = npy(dictionary("<f8", "(2,)"), bytes_of<double>({1, 2}));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_file(path, whole.substr(0, size));
    EXPECT_ERROR(NpyReader{path}, ErrorKind::Corrupt, path);
  }
}

TEST_F(NpyTest, PathsThatCannotBeRead) {
  EXPECT_ERROR(NpyReader{scratch.file("none.npy")}, ErrorKind::Io, "none.npy: No such file");
  EXPECT_ERROR(NpyReader{scratch.file("")}, ErrorKind::Io, "it is a directory");
  EXPECT_ERROR(NpyReader{"/dev/zero"}, ErrorKind::Io, "not a regular file");
}

TEST_F(NpyTest, WriterRoundTripsInAnyOrder) {
  for (const auto type : kAllTypes) {
    const Shape shape({5, 6, 3});
    const auto dense = random_tile(random, type, shape);
    const TileGrid grid(shape, {2, 3, 2});
    const auto tiles = split(dense, grid);
    NpyWriter writer(path, type, shape);
    for (std::int64_t id = grid.tile_count(); id-- > 0;)
      writer.write_block(grid.tile_begin(grid.key_of(id)), *tiles[static_cast<std::size_t>(id)]);
    writer.commit();
    EXPECT_TRUE(same_tile(NpyReader(path).read_block({0, 0, 0}, shape), dense));
  }
  EXPECT_EQ(scratch.file_count(), 1U);
}

TEST_F(NpyTest, WriterWritesWhatNumpyWrites) {
  NpyWriter writer(path, DType::Float32, Shape({2, 3}));
  writer.commit();
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  header.append(128 - 10 - 1 - header.size(), ' ');
  EXPECT_EQ(read_file(path), npy(header + "\n", std::string(24, '\0')));
}

TEST_F(NpyTest, WriterOfScalarsVectorsAndNothing) {
  for (const auto& extents : std::vector<std::vector<std::int64_t>>{{}, {4}, {0}, {3, 0}}) {
    const auto dense = random_tile(random, DType::Int64, Shape(extents));
    NpyWriter writer(path, DType::Int64, dense.shape());
    writer.write_block(std::vector<std::int64_t>(extents.size(), 0), dense);
    writer.commit();
    const NpyReader reader(path);
    EXPECT_TRUE(same_tile(reader.read_block(std::vector<std::int64_t>(extents.size(), 0), reader.shape()), dense));
  }
}

TEST_F(NpyTest, WithoutCommitTheOldFileStays) {
  write_file(path, "old");
  {
    NpyWriter writer(path, DType::Float64, Shape({1000}));
    EXPECT_EQ(read_file(path), "old");
  }
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(scratch.file_count(), 1U);
}

TEST_F(NpyTest, WriterPathsThatCannotBe) {
  const auto write = [](const std::string& target) { NpyWriter(target, DType::Float64, Shape()); };
  EXPECT_ERROR(write(scratch.file("no/x.npy")), ErrorKind::Io, "no/x.npy");
  EXPECT_ERROR(write(scratch.file("")), ErrorKind::Io, "directory");
  EXPECT_ERROR(write("/dev/null"), ErrorKind::Io, "not a regular file");
}

TEST_F(NpyTest, ASymbolicLinkStays) {
  write_file(scratch.file("real.npy"), "old");
  std::filesystem::create_symlink(scratch.file("real.npy"), path);
  NpyWriter(path, DType::Float64, Shape()).commit();
  EXPECT_TRUE(std::filesystem::is_symlink(path));
  EXPECT_EQ(NpyReader(scratch.file("real.npy")).shape().rank(), 0U);
}

}  // namespace
}  // namespace eindb
