// Sparse matrices as scipy.sparse.save_npz writes them: every format, what is written, files that lie.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "storage/formats/npz_reader.hpp"
#include "storage/formats/scipy_reader.hpp"
#include "storage/formats/scipy_writer.hpp"
#include "tests/formats/npy_bytes.hpp"
#include "tests/formats/zip_builder.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

using Arrays = std::map<std::string, std::string>;

std::string integers(const std::vector<std::int32_t>& values) {
  return npy_file("<i4", "(" + std::to_string(values.size()) + ",)", raw_bytes(values));
}

std::string reals(const std::vector<double>& values, std::string shape = "") {
  if (shape.empty()) shape = "(" + std::to_string(values.size()) + ",)";
  return npy_file("<f8", shape, raw_bytes(values));
}

std::string format_array(const std::string& name) { return npy_file("|S" + std::to_string(name.size()), "()", name); }

std::string shape_array(std::int64_t rows, std::int64_t columns) {
  return npy_file("<i8", "(2,)", raw_bytes<std::int64_t>({rows, columns}));
}

/// [[0, 5, 0], [6, 0, 7]].
Arrays csr() {
  return {{"format", format_array("csr")},
          {"shape", shape_array(2, 3)},
          {"data", reals({5, 6, 7})},
          {"indices", integers({1, 0, 2})},
          {"indptr", integers({0, 1, 3})}};
}

// A matrix of 4 x 3 in blocks of 2 x 1, of which two have a cell each.
Arrays blocks() {
  auto bsr = csr();
  bsr["format"] = format_array("bsr");
  bsr["shape"] = shape_array(4, 3);
  bsr["data"] = reals({1, 0, 0, 2}, "(2, 2, 1)");
  bsr["indices"] = integers({2, 0});
  bsr["indptr"] = integers({0, 1, 2});
  return bsr;
}

Arrays coo() {
  return {{"format", format_array("coo")},
          {"shape", shape_array(2, 3)},
          {"data", reals({7, 5, 6})},
          {"row", integers({1, 0, 1})},
          {"col", integers({2, 1, 0})}};
}

class ScipyTest : public ::testing::Test {
 protected:
  void write(const Arrays& arrays, bool compress = false) const {
    std::vector<ZipMember> members;
    for (const auto& [name, contents] : arrays) members.push_back(zip_member(name + ".npy", contents, compress));
    write_file(path, zip_archive(members));
  }
  /// "(0, 3)=1.5 (2, 0)=-2".
  std::string read() {
    ScipyReader reader(path, cancellation);
    shape = reader.shape();
    type = reader.type();
    std::string out;
    for (KeyedCell cell; reader.next(cell);)
      out += (out.empty() ? "" : " ") + key_text(cell.key, 0) + "=" + to_string(cell.value);
    return out;
  }
  std::string read(const Arrays& arrays, bool compress = false) {
    write(arrays, compress);
    return read();
  }
  void expect_fault(Arrays arrays, const std::string& array, const std::string& contents, const std::string& text,
                    ErrorKind kind = ErrorKind::Corrupt) {
    SCOPED_TRACE(text);
    arrays[array] = contents;
    write(arrays);
    EXPECT_ERROR(read(), kind, text);
    EXPECT_ERROR(read(), kind, path + ": member '" + array + ".npy'");
  }

  ScratchDirectory scratch;
  std::string path = scratch.file("m.npz");
  Cancellation cancellation;
  Shape shape;
  StoredType type;
};

TEST_F(ScipyTest, RowsColumnsAndCoordinates) {
  for (const bool compress : {false, true}) {
    EXPECT_EQ(read(csr(), compress), "(0, 1)=5.0 (1, 0)=6.0 (1, 2)=7.0");
    EXPECT_EQ(shape, Shape({2, 3}));
    EXPECT_EQ(type, StoredType(DType::Float64));
    EXPECT_EQ(read(coo(), compress), "(1, 2)=7.0 (0, 1)=5.0 (1, 0)=6.0");
    auto csc = csr();
    csc["format"] = format_array("csc");
    csc["indptr"] = integers({0, 1, 2, 3});
    csc["indices"] = integers({1, 0, 1});
    EXPECT_EQ(read(csc, compress), "(1, 0)=5.0 (0, 1)=6.0 (1, 2)=7.0");
  }
}

TEST_F(ScipyTest, BlocksAndDiagonalsWithoutTheirZeros) {
  const auto bsr = blocks();
  EXPECT_EQ(read(bsr), "(0, 2)=1.0 (3, 0)=2.0");
  // data[d, j] is the cell (j - offset, j): what lies outside is no cell.
  Arrays dia{{"format", format_array("dia")},
             {"shape", shape_array(2, 3)},
             {"data", reals({1, 0, 3, 4, 5, 6, 7, 8}, "(2, 4)")},
             {"offsets", integers({0, 1})}};
  EXPECT_EQ(read(dia), "(0, 0)=1.0 (0, 1)=6.0 (1, 2)=7.0");
  dia["offsets"] = npy_file("<i8", "(2,)", raw_bytes<std::int64_t>({INT64_MIN, INT64_MAX}));
  EXPECT_EQ(read(dia), "");
}

TEST_F(ScipyTest, TypesAreThoseOfTheFile) {
  auto arrays = csr();
  const auto expect = [&](const std::string& descr, const std::string& data, StoredType wanted,
                          const std::string& cells) {
    arrays["data"] = npy_file(descr, "(3,)", data);
    EXPECT_EQ(read(arrays), cells) << descr;
    EXPECT_EQ(type, wanted) << descr;
  };
  expect("|i1", "\x05\xFA\x07", with_encoding(Encoding::Int8), "(0, 1)=5 (1, 0)=-6 (1, 2)=7");
  expect("|b1", "\x01\x01\x01", with_encoding(Encoding::Bool), "(0, 1)=1 (1, 0)=1 (1, 2)=1");
  expect("<f2", raw_bytes<std::uint16_t>({0x3C00, 0x4000, 0xC000}), with_encoding(Encoding::Float16),
         "(0, 1)=1.0 (1, 0)=2.0 (1, 2)=-2.0");
  expect("<u4", raw_bytes<std::uint32_t>({1, 2, 0xFFFFFFFF}), with_encoding(Encoding::UInt32),
         "(0, 1)=1 (1, 0)=2 (1, 2)=4294967295");
  expect("<c8", raw_bytes<float>({1, 2, 3, -4, 0, 0}), DType::Complex64,
         "(0, 1)=1.0+2.0j (1, 0)=3.0-4.0j (1, 2)=0.0+0.0j");
  arrays["data"] = npy_file("<u8", "(3,)", raw_bytes<std::uint64_t>({1, UINT64_MAX, 2}));
  write(arrays);
  EXPECT_ERROR(read(), ErrorKind::Value, "member 'data.npy': element 1 is too large for INT64");
}

TEST_F(ScipyTest, WhatIsNoMatrixOfSciPy) {
  for (const auto* array : {"format", "shape", "data", "indices", "indptr"}) {
    auto arrays = csr();
    arrays.erase(array);
    write(arrays);
    EXPECT_EQ(holds_scipy_matrix(InputFile(path)), array[0] == 'i');
    EXPECT_ERROR(read(), ErrorKind::Value, "no member '" + std::string(array) + ".npy'");
  }
}

TEST_F(ScipyTest, SizesThatContradictEachOther) {
  expect_fault(csr(), "shape", integers({2}), "has 1 extents");
  expect_fault(csr(), "shape", integers({2, -3}), "has a negative extent: [2, -3]");
  expect_fault(csr(), "shape", shape_array(std::int64_t{1} << 62, 8), "more elements than 64 bits", ErrorKind::Shape);
  expect_fault(csr(), "shape", reals({2, 3}), "no integers");
  expect_fault(csr(), "indptr", integers({0, 3}), "has 2 entries, not the 3");
  expect_fault(csr(), "indptr", integers({}), "has 0 entries, not the 3");
  expect_fault(csr(), "indptr", npy_file("<i4", "(1, 3)", raw_bytes<std::int32_t>({0, 1, 3})), "not a list");
  expect_fault(csr(), "indices", integers({1, 0}), "has 2 entries, and 'data.npy' has 3");
  expect_fault(csr(), "data", reals({5, 6, 7}, "(1, 3)"), "is an array of shape [1, 3] in csr");
  expect_fault(csr(), "format", format_array("lil"), "not known: 'lil'", ErrorKind::Unsupported);
  expect_fault(csr(), "format", format_array(std::string(5000, 'c')), "is short");
  expect_fault(coo(), "row", integers({0, 1}), "has 2 entries, and 'data.npy' has 3");
  expect_fault(coo(), "data", reals({5, 6, 7}, "(3, 1)"), "in coo");
  auto bsr = csr();
  bsr["format"] = format_array("bsr");
  expect_fault(bsr, "data", reals({}, "(0, 3, 1)"), "do not fill a matrix of shape [2, 3]");
  expect_fault(bsr, "data", reals({}, "(0, 0, 1)"), "do not fill");
  bsr["indices"] = integers({0});
  bsr["indptr"] = integers({0, 1});
  const auto block = raw_bytes<double>({1, 2, 3, 4, 5, 6});
  expect_fault(bsr, "data", npy_file("<f8", "(1, 2, 3)", block, true), "is column-major", ErrorKind::Unsupported);
}

TEST_F(ScipyTest, ContentsThatContradictTheShape) {
  expect_fault(csr(), "indices", integers({1, 0, 3}), "the index 3 in entry 2");
  expect_fault(csr(), "indices", integers({1, -1, 2}), "the index -1 in entry 1");
  expect_fault(csr(), "indptr", integers({1, 1, 3}), "begins with 1");
  expect_fault(csr(), "indptr", integers({0, 2, 1}), "goes from 2 to 1");
  expect_fault(csr(), "indptr", integers({0, 1, 4}), "goes from 1 to 4 in entry 2");
  expect_fault(csr(), "indptr", integers({0, 1, 2}), "ends with 2");
  expect_fault(coo(), "row", integers({1, 2, 1}), "the index 2 in entry 1");
  expect_fault(coo(), "col", integers({2, 1, -9}), "the index -9 in entry 2");
}

TEST_F(ScipyTest, DamagedMembersAreFoundBeforeTheEnd) {
  for (const auto* array : {"data", "indices", "indptr", "shape", "format"}) {
    std::vector<ZipMember> members;
    for (const auto& [name, contents] : csr()) members.push_back(zip_member(name + ".npy", contents));
    for (auto& member : members)
      if (member.name == std::string(array) + ".npy") member.crc ^= 1;
    write_file(path, zip_archive(members));
    EXPECT_ERROR(read(), ErrorKind::Corrupt, "member '" + std::string(array) + ".npy' is damaged");
  }
}

// Checksums are right, so that what the members say is what the reader has to judge.
TEST_F(ScipyTest, ChangedBytesOfMembersGiveCellsInTheMatrixOrAnError) {
  const auto bsr = blocks();
  const Arrays dia{{"format", format_array("dia")},
                   {"shape", shape_array(2, 3)},
                   {"data", reals({1, 0, 3, 4, 5, 6, 7, 8}, "(2, 4)")},
                   {"offsets", integers({0, 1})}};
  std::mt19937_64 random(7);
  int refused = 0;
  for (const auto& arrays : {csr(), coo(), bsr, dia}) {
    for (int n = 0; n < 500; ++n) {
      auto changed = arrays;
      auto& contents = std::next(changed.begin(), static_cast<std::ptrdiff_t>(random() % changed.size()))->second;
      contents[random() % contents.size()] = static_cast<char>(random());
      std::filesystem::remove(path);
      write(changed);
      try {
        ScipyReader reader(path, cancellation);
        for (KeyedCell cell; reader.next(cell);)
          for (std::size_t d = 0; d < 2; ++d) EXPECT_TRUE(cell.key[d] >= 0 && cell.key[d] < reader.shape()[d]);
      } catch (const Error& error) {
        ++refused;
        EXPECT_NE(error.kind(), ErrorKind::Internal) << error.message();
      }
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST_F(ScipyTest, WrittenMatricesReadBack) {
  for (const auto compression : {Compression::None, Compression::Deflate}) {
    ScipyWriter writer(path, {.type = with_encoding(Encoding::Int8), .rows = 4, .columns = 3, .entries = 3},
                       compression, Overwrite::No, cancellation);
    writer.add(1, 0, std::int64_t{5});
    writer.add(1, 2, std::int64_t{-6});
    writer.add(2, 1, std::int64_t{7});
    writer.commit();
    EXPECT_EQ(read(), "(1, 0)=5 (1, 2)=-6 (2, 1)=7");
    EXPECT_EQ(shape, Shape({4, 3}));
    EXPECT_EQ(type, with_encoding(Encoding::Int8));
    NpzReader pointers(path, "indptr");
    const auto tile = pointers.read_block({0}, Shape({5}));
    EXPECT_EQ(std::vector<std::int64_t>(tile.data<std::int64_t>(), tile.data<std::int64_t>() + 5),
              (std::vector<std::int64_t>{0, 0, 2, 3, 3}));
    EXPECT_EQ(pointers.type(), with_encoding(Encoding::Int32));
  }
}

TEST_F(ScipyTest, IndicesOf64BitsWhereTheShapeNeedsThem) {
  const auto columns = std::int64_t{1} << 40;
  ScipyWriter writer(path, {.type = DType::Float64, .rows = 2, .columns = columns, .entries = 1}, Compression::None,
                     Overwrite::No, cancellation);
  writer.add(1, columns - 1, 2.5);
  writer.commit();
  EXPECT_EQ(read(), "(1, 1099511627775)=2.5");
  EXPECT_EQ(NpzReader(path, "indices").type(), StoredType(DType::Int64));
}

TEST_F(ScipyTest, OtherArraysAreKept) {
  const ScipyMatrix matrix{.type = DType::Float64, .rows = 1, .columns = 1, .entries = 0};
  write(coo());
  EXPECT_NO_THROW(ScipyWriter(path, matrix, Compression::None, Overwrite::No, cancellation));
  auto arrays = csr();
  arrays["weights"] = reals({1});
  write(arrays);
  EXPECT_ERROR(ScipyWriter(path, matrix, Compression::None, Overwrite::No, cancellation), ErrorKind::DuplicateName,
               "'weights.npy'");
  EXPECT_NO_THROW(ScipyWriter(path, matrix, Compression::None, Overwrite::Yes, cancellation));
  write({{"data", reals({1})}});
  EXPECT_ERROR(ScipyWriter(path, matrix, Compression::None, Overwrite::No, cancellation), ErrorKind::DuplicateName,
               "'data.npy'");
}

}  // namespace
}  // namespace eindb
