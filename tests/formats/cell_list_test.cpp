// Lists of cells as files: what readers accept, what writers write, hostile files.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "storage/formats/cell_list_writer.hpp"
#include "storage/formats/coordinate_reader.hpp"
#include "storage/formats/matrix_market_reader.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

// The bytes that this process has read so far, of files and all else.
std::int64_t bytes_read() {
  std::ifstream counts("/proc/self/io");
  std::string name;
  std::int64_t bytes = 0;
  counts >> name >> bytes;
  EXPECT_EQ(name, "rchar:");
  return bytes;
}

class CellListTest : public ::testing::Test {
 protected:
  /// "(0, 3)=1.5 (2, 0)=-2".
  static std::string text_of(CellSource& source) {
    std::string out;
    for (KeyedCell cell; source.next(cell);)
      out += (out.empty() ? "" : " ") + key_text(cell.key, 0) + "=" + to_string(cell.value);
    return out;
  }

  std::string read(const std::string& text, CoordinateOptions options = {}, std::optional<Shape> shape = {}) {
    write_file(path, text);
    CoordinateReader reader(path, options, std::move(shape), std::nullopt, cancellation);
    last_shape = reader.shape();
    last_type = reader.dtype();
    last_labels = reader.labels();
    return text_of(reader);
  }
  std::string read_mtx(const std::string& text) {
    write_file(path, text);
    MatrixMarketReader reader(path);
    last_shape = reader.shape();
    last_type = reader.dtype();
    return text_of(reader);
  }

  ScratchDirectory scratch;
  std::string path = scratch.file("x");
  Cancellation cancellation;
  Shape last_shape;
  DType last_type = DType::Float64;
  std::vector<std::string> last_labels;
};

TEST_F(CellListTest, Numbers) {
  const auto text = [](std::string_view field) {
    const auto value = parse_cell_value(field);
    return value ? to_string(*value) : "none";
  };
  for (const auto& [field, expected] :
       std::vector<std::pair<std::string, std::string>>{{"1", "1"},
                                                        {"-7", "-7"},
                                                        {"+5", "5"},
                                                        {"1.5", "1.5"},
                                                        {"5.", "5.0"},
                                                        {".5", "0.5"},
                                                        {"1e3", "1000.0"},
                                                        {"9223372036854775807", "9223372036854775807"},
                                                        {"9223372036854775808", "9223372036854775808.0"},
                                                        {"1e-400", "0.0"},
                                                        {"inf", "inf"},
                                                        {"-Infinity", "-inf"},
                                                        {"NaN", "nan"},
                                                        {"1+2j", "1.0+2.0j"},
                                                        {"1.5-2.5j", "1.5-2.5j"},
                                                        {"-2j", "0.0-2.0j"},
                                                        {"nan+infj", "nan+infj"},
                                                        {"1e3+1e-3j", "1000.0+0.001j"},
                                                        {"", "none"},
                                                        {"1e400", "none"},
                                                        {"0x10", "none"},
                                                        {"--1", "none"},
                                                        {"+-1", "none"},
                                                        {"1 2", "none"},
                                                        {"1+2", "none"},
                                                        {"1+2i", "none"},
                                                        {"infi", "none"},
                                                        {"j", "none"},
                                                        {"1j2", "none"},
                                                        {"1_0", "none"}})
    EXPECT_EQ(text(field).substr(0, 19), expected.substr(0, 19)) << field;
}

TEST_F(CellListTest, ElementsOfEveryType) {
  EXPECT_EQ(to_element<std::int64_t>(2.0), 2);
  EXPECT_EQ(to_element<std::int64_t>(-9223372036854775808.0), INT64_MIN);
  EXPECT_EQ(to_element<std::int64_t>(9223372036854775808.0), std::nullopt);
  EXPECT_EQ(to_element<std::int64_t>(std::nan("")), std::nullopt);
  EXPECT_EQ(to_element<float>(0.1), 0.1F);
  EXPECT_EQ(to_element<float>(INFINITY), INFINITY);
  EXPECT_EQ(to_element<double>(std::complex<double>(1, 0)), std::nullopt);
  EXPECT_EQ(to_element<std::complex<float>>(std::int64_t{3}), std::complex<float>(3));
  EXPECT_EQ(to_element<std::complex<float>>(std::complex<double>(1e39, 0)), std::nullopt);
}

TEST_F(CellListTest, HeadersQuotesSpacesAndLineEnds) {
  const std::string expected = "(0, 3)=1.5 (2, 0)=-2";
  for (const char* text :
       {"0,3,1.5\n2,0,-2\n", "0,3,1.5\r\n2,0,-2", "i,j,v\n0,3,1.5\n\n\n2,0,-2\n\n", " 0 ,\t3, 1.5\n2,0,-2\n",
        "\"0\",\"3\",\"1.5\"\n\" 2 \",0,-2\n", "\xEF\xBB\xBFi,j,v\n0,3,1.5\n2,0,-2\n"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(read(text), expected);
    EXPECT_EQ(last_shape, Shape({3, 4}));
    EXPECT_EQ(last_type, DType::Float64);
  }
  EXPECT_EQ(read("\"from, id\",to,w\n0,3,1.5\n2,0,-2\n"), expected);
  EXPECT_EQ(last_labels, (std::vector<std::string>{"from, id", "to"}));
  EXPECT_EQ(read("0\t3\t1.5\n2\t0\t-2\n", {.delimiter = '\t'}), expected);
  EXPECT_EQ(read("7,8,9\n0,3,1.5\n2,0,-2\n", {.header = CsvHeader::Present}), expected);
  EXPECT_EQ(read("1,4,1.5\n3,1,-2\n", {.base = 1}), expected);
  EXPECT_EQ(read("# c\n  1\t4   1.5 \n#c\n\n3 1 -2", frostt_options()), expected);
  EXPECT_EQ(read("1,2\n3,4\n"), "(1)=2 (3)=4");
  EXPECT_EQ(last_type, DType::Int64);
  EXPECT_EQ(read("0,0\n1,1j\n"), "(0)=0 (1)=0.0+1.0j");
  EXPECT_EQ(last_type, DType::Complex128);
  EXPECT_EQ(read("val\n7\n"), "()=7");
  EXPECT_EQ(read("", {}, Shape({3})), "");
  EXPECT_EQ(last_type, DType::Float64);
}

TEST_F(CellListTest, FaultsAreLocated) {
  const auto fault = [&](const std::string& text, const std::string& message, CoordinateOptions options = {}) {
    SCOPED_TRACE(text);
    EXPECT_ERROR(read(text, options), ErrorKind::Corrupt, message);
  };
  fault("0,1,2\n0,1\n", "line 2: 2 fields instead of 3");
  fault("0,1,2\n0,1,2,3\n", "line 2: 4 fields instead of 3");
  fault("0,1,2\n0,,2\n", "line 2: column 2 is empty");
  fault("0,1,2\n0,1,\n", "line 2: column 3 is empty");
  fault("0,1,2\n0,1.0,2\n", "line 2: column 2 is no index: '1.0'");
  fault("0,1,2\n0,1,two\n", "line 2: column 3 is no number: 'two'");
  fault("0,1,2\n0,1,\"2\n", "line 2: a quote without an end");
  fault("0,1,2\n99999999999999999999,1,2\n", "line 2: column 1 is too large");
  fault("1,1,2\n-9223372036854775808,1,2\n", "line 2: column 1 is too large", {.base = 1});
  fault("0,1,2\n9223372036854775807,1,2\n", "lies outside every shape");
  fault("1 1 1\n0 1 2\n", "line 2: the key (0, 1) lies outside", frostt_options());
  fault("1 1 1\n1 1 2j\n", "line 2: column 3 is no number", frostt_options());
  fault(std::string("\x01\x02\x03\n", 4), "line 1: this is no text");
  fault(std::string("0,1,2\n\0,1,2\n", 12), "line 2: column 1 is no index: '?'");
  EXPECT_ERROR(read("i,j,v\n"), ErrorKind::Value, "has no cells");
  EXPECT_ERROR(read(""), ErrorKind::Value, "has no cells");
  EXPECT_ERROR(read("4000000000,4000000000,1\n"), ErrorKind::Shape, "64 bits");
}

TEST_F(CellListTest, LinesAcrossBuffersAreWhole) {
  std::string text;
  std::string expected;
  for (int n = 0; n < 200000; ++n) {
    text += std::to_string(n) + "," + std::to_string(n * 7) + (n % 3 == 0 ? "\r\n" : "\n");
    expected += (n == 0 ? "(" : " (") + std::to_string(n) + ")=" + std::to_string(n * 7);
  }
  EXPECT_EQ(read(text), expected);
}

TEST_F(CellListTest, AGigabyteWithoutALineEndIsRefusedAtOnce) {
  write_file(path, "0,0,1\n");
  std::filesystem::resize_file(path, std::size_t{1} << 30U);
  const auto before = bytes_read();
  EXPECT_ERROR(CoordinateReader(path, {}, std::nullopt, std::nullopt, cancellation), ErrorKind::Corrupt,
               "line 2: a line of more than 64 KiB");
  EXPECT_ERROR(MatrixMarketReader{path}, ErrorKind::Corrupt, "line 1: this is no Matrix Market file");
  EXPECT_LT(bytes_read() - before, std::int64_t{4} << 20U);
}

TEST_F(CellListTest, MatrixMarket) {
  EXPECT_EQ(read_mtx("%%MatrixMarket matrix coordinate complex symmetric\n%\n2 2 1\n2 1 1.5 -2\n"),
            "(1, 0)=1.5-2.0j (0, 1)=1.5-2.0j");
  EXPECT_EQ(last_type, DType::Complex128);
  EXPECT_EQ(read_mtx("%%MatrixMarket matrix coordinate complex skew-symmetric\n2 2 1\n2 1 1 2\n"),
            "(1, 0)=1.0+2.0j (0, 1)=-1.0-2.0j");
  EXPECT_EQ(read_mtx("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n4 0\n"),
            "(0, 0)=1.0+0.0j (1, 0)=2.0+3.0j (0, 1)=2.0-3.0j (1, 1)=4.0+0.0j");
  EXPECT_EQ(read_mtx("%%MatrixMarket matrix coordinate pattern symmetric\r\n3 3 1\r\n3 2\r\n"), "(2, 1)=1 (1, 2)=1");
  EXPECT_EQ(read_mtx("%%MatrixMarket matrix array real general\n0 3\n"), "");
  EXPECT_EQ(read_mtx("%%MatrixMarket matrix array real skew-symmetric\n1 1\n"), "");
  EXPECT_EQ(read_mtx("%%MatrixMarket matrix coordinate integer general\n2 2 1\n2 2 9223372036854775807\n"),
            "(1, 1)=9223372036854775807");
  EXPECT_EQ(last_type, DType::Int64);
}

TEST_F(CellListTest, MatrixMarketFaults) {
  const auto fault = [&](const std::string& text, const std::string& message) {
    SCOPED_TRACE(text);
    EXPECT_ERROR(read_mtx("%%MatrixMarket matrix " + text), ErrorKind::Corrupt, message);
  };
  fault("coordinate real\n1 1 0\n", "line 1: the banner has no symmetry");
  fault("coordinate real general more\n1 1 0\n", "line 1: the banner goes on: 'more'");
  fault("coordinate real hermitian\n1 1 0\n", "contradicts itself: coordinate real hermitian");
  fault("coordinate pattern skew-symmetric\n1 1 0\n", "contradicts itself");
  fault("coordinate real general\n", "the file ends before its size");
  fault("coordinate real general\n1 1\n", "the number of entries is missing");
  fault("coordinate real general\n1 1 1 1\n", "line 2: more than the size: '1'");
  fault("coordinate real general\n-1 1 1\n", "the size is negative");
  fault("coordinate real general\n1 1 -1\n", "-1 entries");
  fault("coordinate real general\n99999999999999999999 1 1\n", "the number of rows is no integer that fits");
  fault("coordinate real general\n2 2 1\n1\n", "the column is missing");
  fault("coordinate real general\n2 2 1\n1 1\n", "line 3: a value is missing");
  fault("coordinate real general\n2 2 1\n1 1 x\n", "the value is no number: 'x'");
  fault("coordinate real general\n2 2 1\n1 1 1 1\n", "more than one entry in a line");
  fault("coordinate real general\n2 2 1\n0 1 1\n", "row 0 lies outside a matrix of 2 x 2");
  fault("coordinate integer general\n2 2 1\n1 1 1.5\n", "the value is no integer that fits: '1.5'");
  fault("coordinate integer skew-symmetric\n2 2 1\n2 1 -9223372036854775808\n", "with its sign changed");
  fault("coordinate complex hermitian\n2 2 1\n1 1 1 1\n", "is not real");
  fault("coordinate complex general\n2 2 1\n1 1 1\n", "a value is missing");
  fault("array real general\n2 2\n1\n2\n3\n", "the file ends after 3 of 4 entries");
  fault("array real general\n1 1\n1\n2\n", "more than the 1 entries");
}

TEST_F(CellListTest, WritersText) {
  CellListWriter csv(
      path, {.delimiter = ',', .base = 0, .complex_as_two = false, .head = csv_header({"i", "a,b", "v"}, ',')});
  const std::array<std::int64_t, 2> key{0, 3};
  csv.add(key, 1.0);
  csv.add(key, std::int64_t{-2});
  csv.add(key, std::nan(""));
  csv.add(key, std::complex<double>(1, -2.5));
  csv.commit();
  EXPECT_EQ(read_file(path), "i,\"a,b\",v\n0,3,1.0\n0,3,-2\n0,3,nan\n0,3,1.0-2.5j\n");
  CellListWriter mtx(
      path,
      {.delimiter = ' ', .base = 1, .complex_as_two = true, .head = matrix_market_head(DType::Complex64, 5, 6, 1)});
  mtx.add(key, std::complex<float>(0.1F, -2));
  mtx.commit();
  EXPECT_EQ(read_file(path), "%%MatrixMarket matrix coordinate complex general\n5 6 1\n1 4 0.1 -2.0\n");
}

}  // namespace
}  // namespace eindb
