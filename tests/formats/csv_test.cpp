// CSV: shapes, headers, types, the spellings of numbers, and faults that name line and column.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "storage/formats/csv_reader.hpp"
#include "storage/formats/csv_writer.hpp"
#include "tests/storage/random_tile.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

using Strings = std::vector<std::string>;

class CsvTest : public ::testing::Test {
 protected:
  CsvReader open(const std::string& text, CsvOptions options = {}) {
    write_file(path, text);
    return CsvReader(path, options);
  }

  /// All values, read in bands of `rows`.
  template <class T>
  std::vector<T> values(CsvReader& reader, std::int64_t rows = 2) {
    std::vector<T> out;
    EXPECT_EQ(reader.dtype(), dtype_of<T>);
    while (const auto band = reader.next_band(rows)) {
      EXPECT_EQ(band->shape()[1], reader.columns());
      out.insert(out.end(), band->template data<T>(), band->template data<T>() + band->shape().element_count());
    }
    return out;
  }

  template <class T>
  std::vector<T> read(const std::string& text, CsvOptions options = {}) {
    auto reader = open(text, options);
    return values<T>(reader);
  }

  void expect_fault(const std::string& text, const std::string& message, CsvOptions options = {}) {
    SCOPED_TRACE(text);
    EXPECT_ERROR(open(text, options), ErrorKind::Corrupt, message);
    EXPECT_ERROR(open(text, options), ErrorKind::Corrupt, path);
  }

  ScratchDirectory scratch;
  std::string path = scratch.file("x.csv");
};

TEST_F(CsvTest, IntegersAndReals) {
  auto reader = open("1,2\n3,-4\n+5,6\n");
  EXPECT_EQ(reader.shape(), Shape({3, 2}));
  EXPECT_TRUE(reader.header().empty());
  EXPECT_EQ(values<std::int64_t>(reader), (std::vector<std::int64_t>{1, 2, 3, -4, 5, 6}));
  EXPECT_EQ(read<double>("1,2\n3,4.5\n"), (std::vector<double>{1, 2, 3, 4.5}));
  EXPECT_EQ(read<double>("9223372036854775808\n1\n"), (std::vector<double>{9223372036854775808.0, 1}));
  EXPECT_EQ(read<std::int64_t>("-9223372036854775808\n"), (std::vector<std::int64_t>{INT64_MIN}));
}

TEST_F(CsvTest, BandsCoverTheRows) {
  auto reader = open("1\n2\n3\n4\n5\n");
  EXPECT_EQ(reader.next_band(2)->shape(), Shape({2, 1}));
  EXPECT_EQ(reader.next_band(100)->shape(), Shape({3, 1}));
  EXPECT_FALSE(reader.next_band(1).has_value());
}

TEST_F(CsvTest, HeadersAreFoundByTheirNames) {
  EXPECT_EQ(open("a,b\n1,2\n").header(), (Strings{"a", "b"}));
  EXPECT_EQ(open("a,\n1,2\n").header(), (Strings{"a", ""}));
  EXPECT_TRUE(open("1,2\n1,2\n").header().empty());
  EXPECT_EQ(open("\"x, y\",\"say \"\"hi\"\"\"\n1,2\n").header(), (Strings{"x, y", "say \"hi\""}));
  EXPECT_EQ(open("1,2\n3,4\n", {.header = CsvHeader::Present}).header(), (Strings{"1", "2"}));
  EXPECT_EQ(open("1,2\n3,4\n", {.header = CsvHeader::Present}).rows(), 1);
  expect_fault("a,b\n1,2\n", "line 1: column 1 is no number: 'a'", {.header = CsvHeader::Absent});
  expect_fault("a,1\n1,2\n", "line 1: column 1 is no number: 'a'");
}

TEST_F(CsvTest, AHeaderAloneIsAMatrixWithoutRows) {
  auto reader = open("a,b,c\n");
  EXPECT_EQ(reader.shape(), Shape({0, 3}));
  EXPECT_EQ(reader.dtype(), DType::Float64);
  EXPECT_FALSE(reader.next_band(5).has_value());
}

TEST_F(CsvTest, ARowThatIsNeitherNumbersNorNamesIsRefused) {
  expect_fault("1;2\n", "line 1: neither numbers nor names of columns: '1;2'");
  expect_fault("1\t2\n", "neither numbers nor names");
  expect_fault("\x7F\x02\n", "neither numbers nor names of columns: ");
  EXPECT_EQ(open("a;b\n", {.header = CsvHeader::Present}).shape(), Shape({0, 1}));
  EXPECT_EQ(open("a;b\n", {.delimiter = ';'}).shape(), Shape({0, 2}));
}

TEST_F(CsvTest, LineEndsQuotesAndSpaces) {
  const std::vector<std::int64_t> expected{1, 2, 3, 4};
  for (const char* text :
       {"1,2\n3,4", "1,2\r\n3,4\r\n", "1,2\r3,4\r", "1,2\n3,4\n\n\r\n\n", "\"1\",\"2\"\n3,\"4\"", " 1 ,\t2\n3, 4 \n",
        "\xEF\xBB\xBF"
        "1,2\n3,4\n"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(read<std::int64_t>(text), expected);
  }
  EXPECT_EQ(read<std::int64_t>("1;2\n3;4\n", {.delimiter = ';'}), expected);
  EXPECT_EQ(read<std::int64_t>("1\t2\n3\t4\n", {.delimiter = '\t'}), expected);
}

TEST_F(CsvTest, SpellingsOfNumbers) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(read<double>("inf,-Inf,INFINITY,+inf,1e3,.5,5.,-0.0,1e-400\n"),
            (std::vector<double>{inf, -inf, inf, inf, 1000, 0.5, 5, -0.0, 0}));
  for (const auto value : read<double>("nan,NaN,-nan\n")) EXPECT_TRUE(std::isnan(value));
  for (const char* text : {"0x10", "1e", "--1", "+-1", "1 2", "1e400", "True", "1_000", "infi"})
    expect_fault("5\n" + std::string(text) + "\n", "line 2: column 1 is no number");
}

TEST_F(CsvTest, AFirstRowThatCountsIsAHeaderARowOrAsks) {
  const std::vector<double> reals{0.5, 1, 2.5};
  EXPECT_EQ(read<double>("0,1,2\n0.5,1.0,2.5\n"), reals);
  EXPECT_EQ(open("0,1,2\n0.5,1.0,nan\n").header(), (Strings{"0", "1", "2"}));
  EXPECT_EQ(open("0,1,2\n0.5,1.0,2.5\n", {.header = CsvHeader::Absent}).rows(), 2);
  EXPECT_EQ(read<std::int64_t>("0,1\n2,3\n4,5\n"), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(read<std::int64_t>("0,1,2\n"), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(read<double>("0.0,1.0,2.0\n5.5,1,1\n").size(), 6U);
  for (const char* text : {"0,1,2\n3,4,6\n", "0,1,2\n0.5,1,2.5\n", "0,1\n0.5,1.5\n", "0\n1\n1\n", "0\n0.5\n"}) {
    SCOPED_TRACE(text);
    EXPECT_ERROR(open(text), ErrorKind::Value, "line 1: 0, 1, 2, ... may be names of columns");
    EXPECT_EQ(open(text, {.header = CsvHeader::Present}).rows() + 1, open(text, {.header = CsvHeader::Absent}).rows());
  }
}

TEST_F(CsvTest, FaultsAreLocated) {
  expect_fault("", "has no rows");
  expect_fault("\n\n", "has no rows");
  expect_fault("1,2\n3\n", "line 2: 1 field, but line 1 has 2");
  expect_fault("1,2\n3,4,5\n", "line 2: 3 fields, but line 1 has 2");
  expect_fault("a,b\n1,2,3\n", "line 2: 3 fields, but line 1 has 2");
  expect_fault("1,2\n3,\n", "line 2: column 2 is empty");
  expect_fault("1\n\n2\n", "line 2: the line is empty");
  expect_fault("1\n\"2\n3\n", "line 2: a quote without an end");
  expect_fault("1\n\"2\"x\n", "line 2: text after a closing quote");
  expect_fault("\"a\nb\"\n1\nx\n", "line 4: column 1 is no number: 'x'");
  expect_fault("1\n" + std::string(3 << 20, '7') + "\n", "line 2: a field of more than 1 MiB");
  expect_fault(std::string("1\n\0\n", 4), "line 2: column 1 is no number: '?'");
  EXPECT_ERROR(CsvReader(scratch.file("none.csv")), ErrorKind::Io, "none.csv");
}

TEST_F(CsvTest, FieldsAcrossBuffersAreWhole) {
  std::string text;
  std::vector<std::int64_t> expected;
  for (std::int64_t n = 0; n < 300000; ++n) {
    expected.push_back(n * 1234567);
    text += std::to_string(expected.back()) + (n % 3 == 2 ? "\r\n" : ",");
  }
  EXPECT_EQ(read<std::int64_t>(text), expected);
}

TEST_F(CsvTest, AFileThatChangesIsNoticed) {
  std::string text;
  for (int n = 0; n < 1'000'000; ++n) text += "1,2\n";  // beyond what is buffered
  auto reader = open(text);
  std::replace(text.begin(), text.end(), ',', '\n');
  write_file(path, text);
  EXPECT_ERROR(reader.next_band(1'000'000), ErrorKind::Io, "changed while it was read");
}

TEST_F(CsvTest, ReadingCanBeCancelled) {
  std::string text;
  for (int n = 0; n < 5000; ++n) text += "1\n";
  write_file(path, text);
  Cancellation cancellation;
  cancellation.request();
  EXPECT_ERROR(CsvReader(path, {}, &cancellation), ErrorKind::Cancelled, "cancelled");
}

TEST_F(CsvTest, WriterRoundTripsExactly) {
  std::mt19937_64 random(31);
  auto tile = Tile::zeros(DType::Float64, Shape({50, 3}));
  for (int n = 0; n < 150; ++n) {
    const auto bits = random();
    std::memcpy(tile.mutable_data<double>() + n, &bits, sizeof bits);
    if (std::isnan(tile.data<double>()[n])) tile.mutable_data<double>()[n] = 3;
  }
  CsvWriter writer(path, DType::Float64, tile.shape(), {"a", "b,c", "d\"e"}, ';');
  writer.append(tile);
  writer.commit();
  CsvReader reader(path, {.delimiter = ';'});
  EXPECT_EQ(reader.header(), (Strings{"a", "b,c", "d\"e"}));
  EXPECT_TRUE(same_tile(*reader.next_band(50), tile));
}

TEST_F(CsvTest, WriterText) {
  const auto write = [&](const Tile& tile) {
    CsvWriter writer(path, tile.dtype(), tile.shape());
    writer.append(tile);
    writer.commit();
    return read_file(path);
  };
  auto singles = Tile::zeros(DType::Float32, Shape({2, 3}));
  const float values[] = {
      0.1F, 3, -0.0F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e20F};
  std::memcpy(singles.mutable_bytes().data(), values, sizeof values);
  EXPECT_EQ(write(singles), "0.1,3.0,-0.0\nnan,inf,1e+20\n");
  auto vector = Tile::zeros(DType::Int64, Shape({2}));
  vector.mutable_data<std::int64_t>()[0] = INT64_MIN;
  EXPECT_EQ(write(vector), "-9223372036854775808\n0\n");
  EXPECT_EQ(write(Tile::zeros(DType::Float64, Shape())), "0.0\n");
  EXPECT_EQ(write(Tile::zeros(DType::Float64, Shape({0, 3}))), "");
}

TEST_F(CsvTest, WriterRefusesWhatCsvCannotHold) {
  EXPECT_ERROR(CsvWriter(path, DType::Float64, Shape({1, 1, 1})), ErrorKind::Unsupported, "3 dimensions");
  EXPECT_ERROR(CsvWriter(path, DType::Complex64, Shape({1})), ErrorKind::Unsupported, "COMPLEX64");
  EXPECT_EQ(scratch.file_count(), 0U);
}

TEST_F(CsvTest, WriterWithoutCommitLeavesNothing) {
  { CsvWriter(path, DType::Float64, Shape({1})).append(Tile::zeros(DType::Float64, Shape({1}))); }
  EXPECT_EQ(scratch.file_count(), 0U);
}

TEST_F(CsvTest, WriterToADevice) {
  CsvWriter writer("/dev/null", DType::Float64, Shape());
  writer.append(Tile::zeros(DType::Float64, Shape()));
  writer.commit();
  EXPECT_FALSE(std::filesystem::is_regular_file("/dev/null"));
}

}  // namespace
}  // namespace eindb
