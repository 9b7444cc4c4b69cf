// Tensors as DataRows, whole and by element: the output, its portions, and failures to read a tile. arrays_test.py
// compares the messages with NumPy.

#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <string>

#include "common/error.hpp"
#include "engine/session.hpp"
#include "server/rows/cell_row_stream.hpp"
#include "server/rows/tensor_array_stream.hpp"
#include "server/rows/tensor_row_stream.hpp"

namespace eindb {
namespace {

using namespace std::string_literals;
using frontend::Format;

constexpr std::array kFormats{Format::Text, Format::Binary};

// Writes portions as a connection does; `written` is valid even if the stream throws.
void write_all(RowStream& stream, std::string& written) {
  while (!stream.at_end()) {
    MessageWriter out;
    try {
      stream.write(out);
    } catch (const Error&) {
      written += out.buffer();
      throw;
    }
    written += out.buffer();
  }
}

std::string written(RowStream& stream) {
  std::string bytes;
  write_all(stream, bytes);
  return bytes;
}

class TensorStreams : public ::testing::Test {
 protected:
  std::string array(const std::string& query, ResultFormat result_format, Format format) {
    const auto result = session_.execute(query);
    TensorArrayStream stream(session_.strips(result.tensor), result_format, {format});
    return written(stream);
  }

  Session session_{":memory:"};
};

TEST_F(TensorStreams, AnArrayIsItsShapeAndItsElements) {
  EXPECT_EQ(array("EINSUM Z[i 2, j 1] = 1.5 - i", ResultFormat::Array, Format::Text),
            "D\0\0\0\x1c\0\2\0\0\0\5{2,1}\0\0\0\x09{1.5,0.5}"s);
}

TEST_F(TensorStreams, AnArrayInBinary) {
  const auto head = "\0\0\0\1\0\0\0\0"s;
  EXPECT_EQ(array("EINSUM Z[i 2] = CAST(i AS INT64)", ResultFormat::Array, Format::Binary),
            "D\0\0\0\x5a\0\2"s +                                                                  // the row
                "\0\0\0\x20"s + head + "\0\0\0\x14\0\0\0\1\0\0\0\1\0\0\0\x08\0\0\0\0\0\0\0\2"s +  // shape
                "\0\0\0\x2c"s + head + "\0\0\0\x14\0\0\0\2\0\0\0\1\0\0\0\x08\0\0\0\0\0\0\0\0"s +
                "\0\0\0\x08\0\0\0\0\0\0\0\1"s);
}

TEST_F(TensorStreams, ScalarsAndNothing) {
  EXPECT_EQ(array("EINSUM Z[] = 7", ResultFormat::Array, Format::Text), "D\0\0\0\x13\0\2\0\0\0\2{}\0\0\0\3{7}"s);
  EXPECT_EQ(array("EINSUM Z[i 0] = i", ResultFormat::Array, Format::Text), "D\0\0\0\x13\0\2\0\0\0\3{0}\0\0\0\2{}"s);
  const auto empty = "\0\0\0\x0c\0\0\0\0\0\0\0\0\0\0\x02\xbd"s;
  const auto nothing = array("EINSUM Z[i 0] = i", ResultFormat::Array, Format::Binary);
  EXPECT_TRUE(nothing.ends_with(empty));
}

TEST_F(TensorStreams, RowsAreThoseOfTheResult) {
  for (const auto* const query :
       {"EINSUM Z[i 5, j 3] = i / 3 - j", "EINSUM Z[i 4] = i", "EINSUM Z[] = 2.5", "EINSUM Z[i 0, j 2] = i",
        "EINSUM Z[i 3, j 2, k 2] = COMPLEX(i / 7, j * k)", "EINSUM Z[i 9, j 2] = CAST(i / 7 AS FLOAT32)",
        "EINSUM Z[i 2, j 2] = CAST(COMPLEX(i, j) AS COMPLEX64)", "EINSUM Z[i 70, j 70] = 1 / (i - j)"}) {
    for (const auto format : kFormats) {
      const auto result = session_.execute(query);
      const auto columns = client_columns(result.columns);
      const std::vector formats{format};
      CellRowStream cells(*result.rows, columns, formats);
      EXPECT_EQ(written(*tensor_row_stream(session_.strips(result.tensor), formats)), written(cells)) << query;
    }
  }
}

TEST_F(TensorStreams, ARowMayHaveBothFormats) {
  const auto result = session_.execute("EINSUM Z[i 1, j 1] = i + 1");
  const auto stream = tensor_row_stream(session_.strips(result.tensor), {Format::Text, Format::Binary, Format::Text});
  EXPECT_EQ(written(*stream),
            "D\0\0\0\x1c\0\3\0\0\0\1"
            "0"
            "\0\0\0\x08\0\0\0\0\0\0\0\0\0\0\0\1"
            "1"s);
}

TEST_F(TensorStreams, LongRowsComeInPortions) {
  const auto result = session_.execute("EINSUM Z[i 1000, j 100] = i - j / 3");
  for (const auto result_format : {ResultFormat::Array, ResultFormat::Npy}) {
    for (const auto format : kFormats) {
      TensorArrayStream stream(session_.strips(result.tensor), result_format, {format});
      std::size_t total = 0;
      std::string row;
      for (bool done = false; !done;) {
        MessageWriter out;
        done = stream.write(out);
        EXPECT_LE(out.size(), 2 * kPortionBytes);
        row += out.buffer();
        ++total;
      }
      EXPECT_GT(total, 4U);
      EXPECT_EQ(load_big_endian<std::int32_t>(std::string_view(row).substr(1)),
                static_cast<std::int32_t>(row.size() - 1));
    }
  }
}

// ---- Failures ------------------------------------------------------------------------------------------------------

constexpr std::int64_t kDamaged = 2;

// Four lines of one tile each, one of which cannot be read.
std::shared_ptr<const TensorRelation> lines(DType type, std::int64_t damaged) {
  const TileGrid grid(Shape({4, 20000}), {4, 1});
  const auto read = [type, damaged](std::int64_t id) -> TilePtr {
    if (id == damaged) throw Error(ErrorKind::Corrupt, "a tile is damaged");
    auto tile = Tile::zeros(type, Shape({1, 20000}));
    for (auto& byte : tile.mutable_bytes()) byte = std::byte{0x3f};
    return std::make_shared<const Tile>(std::move(tile));
  };
  auto tiles = std::make_shared<BufferedTiles>(MemoryBudget::create(1 << 20), grid.tile_count(), read);
  return std::make_shared<const TensorRelation>(
      TensorRelation{"X", {"i", "j"}, type, grid, std::make_shared<ResultTiles>(std::move(tiles), grid)});
}

TEST(TensorStreamFailures, ARowThatIsUnderWayIsFilledUp) {
  for (const auto type : {DType::Float64, DType::Complex64}) {
    for (const auto result_format : {ResultFormat::Array, ResultFormat::Npy}) {
      for (const auto format : kFormats) {
        Cancellation cancellation;
        TensorArrayStream stream(TensorStrips(lines(type, -1), &cancellation), result_format, {format});
        MessageWriter out;
        ASSERT_FALSE(stream.write(out));
        cancellation.request();
        auto row = out.buffer();
        EXPECT_THROW(write_all(stream, row), Error);
        EXPECT_EQ(load_big_endian<std::int32_t>(std::string_view(row).substr(1)),
                  static_cast<std::int32_t>(row.size() - 1));
        EXPECT_TRUE(stream.at_end());
      }
    }
  }
}

TEST(TensorStreamFailures, ATileThatCannotBeRead) {
  TensorArrayStream stream(TensorStrips(lines(DType::Float64, kDamaged)), ResultFormat::Npy, {Format::Binary});
  std::string row;
  EXPECT_THROW(write_all(stream, row), Error);
  const std::string line(20000 * 8, '\x3f');
  EXPECT_TRUE(row.ends_with(line + line + std::string(2 * line.size(), '\0')));
}

TEST(TensorStreamFailures, WhatIsNotBegunIsNotWritten) {
  EXPECT_THROW(TensorArrayStream(TensorStrips(lines(DType::Float64, kDamaged)), ResultFormat::Array, {}), Error);
}

TEST(TensorStreamFailures, RowsEndWithWholeMessages) {
  const auto stream = tensor_row_stream(TensorStrips(lines(DType::Float64, kDamaged)), {});
  std::string messages;
  EXPECT_THROW(write_all(*stream, messages), Error);
  std::string_view rest = messages;
  std::size_t rows = 0;
  for (; !rest.empty(); ++rows)
    rest.remove_prefix(1 + static_cast<std::size_t>(load_big_endian<std::int32_t>(rest.substr(1))));
  EXPECT_EQ(rows, 40000U);
}

TEST(TensorStreamFailures, TooLongForARow) {
  auto tensor = *lines(DType::Float64, kDamaged);
  tensor.grid = TileGrid(Shape({std::int64_t{1} << 31U, std::int64_t{1} << 31U}), {1, 1});
  const auto vast = std::make_shared<const TensorRelation>(tensor);
  for (const auto result_format : {ResultFormat::Array, ResultFormat::Npy}) {
    for (const auto format : kFormats) {
      try {
        const TensorArrayStream stream(TensorStrips(vast), result_format, {format});
        FAIL();
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
        EXPECT_NE(error.hint().find("result_format"), std::string::npos);
      }
    }
  }
}

}  // namespace
}  // namespace eindb
