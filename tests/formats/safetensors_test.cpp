// safetensors files: every type, both directions, rounding to 16 bits, and files that lie.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <random>

#include "storage/formats/little_endian.hpp"
#include "storage/formats/npy_element.hpp"
#include "storage/formats/safetensors_reader.hpp"
#include "storage/formats/safetensors_writer.hpp"
#include "tensor/dense_tensor.hpp"
#include "tensor/small_float.hpp"
#include "tests/formats/npy_bytes.hpp"
#include "tests/storage/random_tile.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

std::string file_of(const std::string& header, const std::string& data = "") {
  std::string out;
  append_little_endian(out, std::uint64_t{header.size()});
  return out + header + data;
}

std::string entry(const std::string& name, const std::string& type, const std::string& shape, std::size_t begin,
                  std::size_t end) {
  return '"' + name + R"(":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":[)" +
         std::to_string(begin) + "," + std::to_string(end) + "]}";
}

class SafetensorsTest : public ::testing::Test {
 protected:
  Tile read_all(const std::string& name = "") const {
    const SafetensorsReader reader(path, name);
    return reader.read_block(std::vector<std::int64_t>(reader.shape().rank(), 0), reader.shape());
  }

  template <class Wide, class Narrow>
  void expect_type(const std::string& type, const std::vector<Narrow>& stored, const std::vector<Wide>& expected) {
    SCOPED_TRACE(type);
    const auto data = raw_bytes(stored);
    const auto shape = "[" + std::to_string(expected.size()) + "]";
    write_file(path, file_of("{" + entry("w", type, shape, 0, data.size()) + "}", data));
    const auto tile = read_all();
    ASSERT_EQ(tile.dtype(), dtype_of<Wide>);
    EXPECT_EQ(std::vector<Wide>(tile.data<Wide>(), tile.data<Wide>() + expected.size()), expected);
  }

  void expect_fault(const std::string& contents, const std::string& text, ErrorKind kind = ErrorKind::Corrupt) {
    SCOPED_TRACE(text);
    write_file(path, contents);
    EXPECT_ERROR(read_all(), kind, text);
    EXPECT_ERROR(read_all(), kind, path);
  }

  ScratchDirectory scratch;
  std::string path = scratch.file("x.safetensors");
  std::mt19937_64 random{23};
};

TEST_F(SafetensorsTest, EveryType) {
  expect_type<double, double>("F64", {0.1, -1e300}, {0.1, -1e300});
  expect_type<float, float>("F32", {0.5F, -3}, {0.5F, -3});
  expect_type<float, std::uint16_t>("F16", {0x3C00, 0xC000, 0x0001}, {1, -2, 0x1p-24F});
  expect_type<float, std::uint16_t>("BF16", {0x3F80, 0xC000, 0x0001}, {1, -2, 0x1p-133F});
  expect_type<std::int64_t, std::int64_t>("I64", {INT64_MIN, 5}, {INT64_MIN, 5});
  expect_type<std::int64_t, std::int32_t>("I32", {INT32_MIN, 5}, {INT32_MIN, 5});
  expect_type<std::int64_t, std::int16_t>("I16", {-32768, 5}, {-32768, 5});
  expect_type<std::int64_t, std::int8_t>("I8", {-128, 5}, {-128, 5});
  expect_type<std::int64_t, std::uint64_t>("U64", {7, INT64_MAX}, {7, INT64_MAX});
  expect_type<std::int64_t, std::uint32_t>("U32", {7, UINT32_MAX}, {7, UINT32_MAX});
  expect_type<std::int64_t, std::uint16_t>("U16", {7, 65535}, {7, 65535});
  expect_type<std::int64_t, std::uint8_t>("U8", {7, 255}, {7, 255});
  expect_type<std::int64_t, std::uint8_t>("BOOL", {0, 1}, {0, 1});
  expect_type<std::complex<float>, float>("C64", {1, 2, 3, 4}, {{1, 2}, {3, 4}});
  const auto large = raw_bytes<std::uint64_t>({1, UINT64_MAX});
  expect_fault(file_of("{" + entry("w", "U64", "[2]", 0, 16) + "}", large), "beyond INT64", ErrorKind::Value);
}

TEST_F(SafetensorsTest, TensorsAreChosenByName) {
  const auto data = raw_bytes<float>({1, 2, 3, 4});
  write_file(path,
             file_of("{" + entry("b", "F32", "[]", 12, 16) + R"(,"__metadata__":{"format":"pt"},)" +
                         entry("a", "F32", "[1,3]", 0, 12) + "," + entry("none", "F32", "[0,9]", 12, 12) + "}    ",
                     data));
  EXPECT_EQ(read_all("a").data<float>()[2], 3);
  EXPECT_EQ(read_all("a").shape(), Shape({1, 3}));
  EXPECT_EQ(read_all("b").data<float>()[0], 4);
  EXPECT_EQ(read_all("none").shape(), Shape({0, 9}));
  EXPECT_ERROR(read_all(), ErrorKind::Value, "holds 3 arrays: 'b', 'a', 'none'");
  EXPECT_ERROR(read_all("c"), ErrorKind::UnknownName, "no array 'c'");
  write_file(path, file_of("{}"));
  EXPECT_ERROR(read_all(), ErrorKind::Value, "holds no array");
}

TEST_F(SafetensorsTest, FloatsOfEightBits) {
  const std::string bytes{'\x38', '\x7E', '\x81', '\x3C', 'd'};
  write_file(path, file_of("{" + entry("a", "F8_E4M3", "[3]", 0, 3) + "," + entry("b", "F8_E5M2", "[1]", 3, 4) + "," +
                               entry("w", "U8", "[1]", 4, 5) + "}",
                           bytes));
  EXPECT_EQ(read_all("w").data<std::int64_t>()[0], 'd');
  const auto tile = read_all("a");
  EXPECT_EQ(tile.data<float>()[0], 1);
  EXPECT_EQ(tile.data<float>()[1], 448);
  EXPECT_EQ(tile.data<float>()[2], -0x1p-9F);
  EXPECT_EQ(read_all("b").data<float>()[0], 1);
}

TEST_F(SafetensorsTest, OtherSmallFloatsAreNamed) {
  write_file(path,
             file_of("{" + entry("q", "F8_E8M0", "[3]", 0, 3) + "," + entry("w", "U8", "[1]", 3, 4) + "}", "abcd"));
  EXPECT_EQ(read_all("w").data<std::int64_t>()[0], 'd');
  EXPECT_ERROR(read_all("q"), ErrorKind::Unsupported, "dtype F8_E8M0");
}

TEST_F(SafetensorsTest, OffsetsThatLie) {
  const std::string eight(8, 'x');
  const auto fault = [&](const std::string& entries, const std::string& text) {
    expect_fault(file_of("{" + entries + "}", eight), text);
  };
  fault(entry("a", "U8", "[8]", 0, 8) + "," + entry("b", "U8", "[8]", 0, 8), "overlaps");
  fault(entry("a", "U8", "[6]", 0, 6) + "," + entry("b", "U8", "[4]", 4, 8), "overlaps");
  fault(entry("a", "U8", "[8]", 0, 8) + "," + entry("b", "U8", "[0]", 4, 4), "overlaps");
  fault(entry("a", "U8", "[2]", 0, 2) + "," + entry("b", "U8", "[5]", 3, 8), "hole of 1 bytes");
  fault(entry("a", "U8", "[7]", 1, 8), "hole of 1 bytes");
  fault(entry("a", "U8", "[7]", 0, 7), "1 bytes follow");
  fault(entry("a", "U8", "[9]", 0, 9), "ends at byte 9 of the values, of which the file has 8");
  fault(entry("a", "U8", "[8]", 8, 0), "ends before it begins");
  fault(entry("a", "F32", "[8]", 0, 8), "takes 32 bytes, but its data_offsets give it 8");
  fault(entry("a", "F4", "[1]", 0, 8), "bytes, but its data_offsets");
  fault(entry("a", "U8", "[8]", 0, 8) + "," + entry("a", "U8", "[0]", 8, 8), "two tensors have the name 'a'");
  fault(R"("a":{"dtype":"U8","shape":[8],"data_offsets":[-1,8]})", "negative offset");
  fault(R"("a":{"dtype":"U8","shape":[8],"data_offsets":[0,99999999999999999999]})", "not expected");
  fault(R"("a":{"dtype":"U8","shape":[8],"data_offsets":[0,18446744073709551615]})", "beyond 63 bits");
  fault(R"("a":{"dtype":"U8","shape":[8],"data_offsets":[0,8.0]})", "the number 8.0 is not expected");
  fault(R"("a":{"dtype":"U8","shape":[8],"data_offsets":[0]})", "two data_offsets");
  fault(R"("a":{"dtype":"U8","shape":[8],"data_offsets":[0,8,8]})", "more than 2 numbers");
}

TEST_F(SafetensorsTest, ShapesAndTypesThatLie) {
  const std::string eight(8, 'x');
  const auto fault = [&](const std::string& type, const std::string& shape, const std::string& text,
                         ErrorKind kind = ErrorKind::Corrupt) {
    expect_fault(file_of("{" + entry("a", type, shape, 0, 8) + "}", eight), text, kind);
  };
  fault("U8", "[-8]", "negative extent -8");
  fault("U8", "[4611686018427387904,4]", "overflows");
  fault("F64", "[4611686018427387904]", "overflows");
  fault("U8", "[18446744073709551615]", "beyond 63 bits");
  fault("U8", "[1.5]", "not expected");
  fault("U8", "[[8]]", "an array is not expected");
  fault("U8", "8", "a number is not expected");
  fault("U8", "null", "null is not expected");
  fault("U8", R"("8")", "a text is not expected");
  std::string ones = "[1";
  for (int n = 0; n < 64; ++n) ones += ",1";
  fault("U8", ones + "]", "more than 64 numbers");
  for (const char* type : {"", "f32", "F33", "FLOAT", "float32", "I128"})
    fault(type, "[8]", "which is none of safetensors", ErrorKind::Unsupported);
}

TEST_F(SafetensorsTest, HeadersThatLie) {
  expect_fault("", "ends in the length");
  expect_fault("1234567", "ends in the length");
  expect_fault(std::string(8, '\0'), "no JSON object");
  expect_fault(std::string(8, '\xFF') + "{}", "header of 18446744073709551615 bytes is longer than the file");
  expect_fault(std::string("\x03\0\0\0\0\0\0\0{}", 10), "header of 3 bytes is longer");
  expect_fault(file_of("[]"), "no JSON object");
  expect_fault(file_of(" {}"), "no JSON object");
  expect_fault(file_of("{"), "no JSON at byte");
  expect_fault(file_of("{}{}"), "no JSON at byte");
  expect_fault(file_of("{\"\xFF\":1}"), "no JSON at byte");
  expect_fault(file_of("{\"a\":1}"), "a number is not expected at 'a'");
  expect_fault(file_of("{\"a\":{}}"), "does not have a dtype");
  expect_fault(file_of("{\"a\":{\"evil\":1}}"), "unknown key 'evil'");
  expect_fault(file_of("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}"), "two dtypes");
  expect_fault(file_of("{\"a\":{\"shape\":[],\"shape\":[]}}"), "its shape twice");
  expect_fault(file_of("{\"a\":{\"dtype\":{}}}"), "an object is not expected");
  expect_fault(file_of("{\"__metadata__\":{\"a\":1}}"), "not expected");
  expect_fault(file_of("{\"a\":" + std::string(100000, '[')), "an array is not expected");
  expect_fault(file_of("{" + std::string(5 << 20, ' ')), "at most 3145728 are read", ErrorKind::Unsupported);
}

TEST_F(SafetensorsTest, EveryPrefixOfAFileIsRefused) {
  const auto whole = file_of("{" + entry("a", "F32", "[3]", 0, 12) + "}", std::string(12, 'x'));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::filesystem::remove(path);
    write_file(path, whole.substr(0, size));
    EXPECT_ERROR(read_all(), ErrorKind::Corrupt, path);
  }
}

TEST_F(SafetensorsTest, ChangedBytesGiveATensorOrAnError) {
  const auto whole = file_of("{" + entry("a", "F32", "[3]", 0, 12) + "," + entry("b", "I8", "[2,2]", 12, 16) + "}",
                             std::string(16, 'x'));
  for (int n = 0; n < 3000; ++n) {
    auto changed = whole;
    for (int times = static_cast<int>(random() % 3); times >= 0; --times)
      changed[random() % (whole.size() - 16)] = static_cast<char>(random() % 2 == 0 ? random() : '0' + random() % 10);
    std::filesystem::remove(path);
    write_file(path, changed);
    try {
      read_all("a");
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::Internal) << error.message();
    }
  }
}

TEST_F(SafetensorsTest, WriterRoundTripsInAnyOrder) {
  for (const auto type : {DType::Float32, DType::Float64, DType::Int64}) {
    const Shape shape({5, 6, 3});
    const auto dense = random_tile(random, type, shape);
    const TileGrid grid(shape, {2, 3, 2});
    const auto tiles = split(dense, grid);
    SafetensorsWriter writer(path, "a \"b\"", type, shape);
    for (std::int64_t id = grid.tile_count(); id-- > 0;)
      writer.write_block(grid.tile_begin(grid.key_of(id)), *tiles[static_cast<std::size_t>(id)]);
    writer.commit();
    EXPECT_TRUE(same_tile(read_all("a \"b\""), dense));
  }
  EXPECT_EQ(scratch.file_count(), 1U);
}

TEST_F(SafetensorsTest, WriterWritesAlignedHeaders) {
  SafetensorsWriter writer(path, "w", DType::Float32, Shape({2, 3}));
  writer.commit();
  EXPECT_EQ(read_file(path),
            file_of(R"({"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}       )", std::string(24, '\0')));
}

TEST_F(SafetensorsTest, OtherTensorsAreLostOnlyWhenToldSo) {
  const auto write = [&](const std::string& name, Overwrite overwrite = Overwrite::No) {
    SafetensorsWriter(path, name, DType::Float32, Shape({2}), {}, overwrite).commit();
  };
  write("a");
  write("a");
  EXPECT_ERROR(write("b"), ErrorKind::DuplicateName, "holds other arrays, which would be lost: 'a'");
  write("b", Overwrite::Yes);
  EXPECT_EQ(read_all("b").shape(), Shape({2}));
  write_file(path, "no tensors");
  EXPECT_ERROR(write("a"), ErrorKind::Corrupt, path);
}

TEST_F(SafetensorsTest, WriterConvertsAndRefuses) {
  const auto dense = random_tile(random, DType::Float64, Shape({20, 10}));  // integers up to 1000: F16 holds them
  for (const StoredType stored :
       {with_encoding(Encoding::Float16), StoredType(DType::Float32), StoredType(DType::Float64)}) {
    SafetensorsWriter writer(path, "w", DType::Float64, dense.shape(), stored);
    writer.write_block({0, 0}, dense);
    writer.commit();
    const auto back = read_all();
    ASSERT_EQ(back.dtype(), stored == DType::Float64 ? DType::Float64 : DType::Float32);
    for (std::int64_t n = 0; n < 200; ++n) {
      const auto value = back.dtype() == DType::Float64 ? back.data<double>()[n] : back.data<float>()[n];
      EXPECT_EQ(value, dense.data<double>()[n]);
    }
  }
  const auto write = [&](DType type, std::optional<StoredType> stored, const std::string& name = "w") {
    SafetensorsWriter(path, name, type, Shape({2}), stored);
  };
  EXPECT_ERROR(write(DType::Complex64, {}), ErrorKind::Unsupported, "not COMPLEX64");
  EXPECT_ERROR(write(DType::Int64, with_encoding(Encoding::Float16)), ErrorKind::Unsupported,
               "INT64 is written as I64");
  EXPECT_ERROR(write(DType::Float32, DType::Int64), ErrorKind::Unsupported, "FLOAT32 is written as F32");
  EXPECT_ERROR(write(DType::Float32, {}, "__metadata__"), ErrorKind::Value, "__metadata__");
  EXPECT_EQ(scratch.file_count(), 1U);  // nothing half-written beside the last good one
}

// ---- Rounding to 16 bits -------------------------------------------------------------------------------------------

double value_of(std::uint16_t bits, char kind) {
  float value = 0;
  npy_conversion({.kind = kind, .size = 2})(reinterpret_cast<const std::byte*>(&bits),
                                            reinterpret_cast<std::byte*>(&value), 1, 1);
  return value;
}

template <class Round>
void expect_every_value_and_middle(char kind, std::uint16_t infinity, const Round& round) {
  for (std::uint16_t bits = 0; bits < infinity; ++bits) {
    const double low = value_of(bits, kind);
    ASSERT_EQ(round(low), bits);
    ASSERT_EQ(round(-low), bits | 0x8000);
    // Where the next one would be, if there were no infinity.
    const double high = bits + 1 < infinity ? value_of(static_cast<std::uint16_t>(bits + 1), kind)
                                            : 2 * low - value_of(static_cast<std::uint16_t>(bits - 1), kind);
    const double middle = (low + high) / 2;
    ASSERT_EQ(round(middle), bits + bits % 2) << bits;  // ties to even
    ASSERT_EQ(round(std::nextafter(middle, 0.0)), bits);
    ASSERT_EQ(round(std::nextafter(middle, high)), bits + 1);
  }
}

TEST(HalfPrecisionTest, EveryNumberAndEveryMiddleBetweenTwo) {
  expect_every_value_and_middle('f', 0x7C00, [](double value) { return round_to<Half>(value).bits; });
  expect_every_value_and_middle('B', 0x7F80, [](double value) { return round_to<BrainFloat>(value).bits; });
}

TEST(HalfPrecisionTest, EndsOfTheRange) {
  const auto infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(round_to<Half>(65519.99).bits, 0x7BFF);
  EXPECT_EQ(round_to<Half>(65520).bits, 0x7C00);
  EXPECT_EQ(round_to<Half>(1e300).bits, 0x7C00);
  EXPECT_EQ(round_to<Half>(-infinity).bits, 0xFC00);
  EXPECT_EQ(round_to<BrainFloat>(infinity).bits, 0x7F80);
  EXPECT_EQ(round_to<BrainFloat>(1e39).bits, 0x7F80);
  EXPECT_EQ(round_to<Half>(5e-324).bits, 0);
  EXPECT_EQ(round_to<Half>(-1e-300).bits, 0x8000);
  EXPECT_EQ(round_to<BrainFloat>(-0.0).bits, 0x8000);
  EXPECT_TRUE(std::isnan(value_of(round_to<Half>(std::nan("")).bits, 'f')));
  EXPECT_TRUE(std::isnan(value_of(round_to<BrainFloat>(-std::nan("")).bits, 'B')));
  // Rounded once: by way of binary32 this would be a tie, and 1 + 2^-10.
  EXPECT_EQ(round_to<Half>(1 + 0x1p-11 + 0x1p-40).bits, 0x3C01);
  EXPECT_EQ(round_to<Half>(1 + 0x1p-11 - 0x1p-40).bits, 0x3C00);
}

}  // namespace
}  // namespace eindb
