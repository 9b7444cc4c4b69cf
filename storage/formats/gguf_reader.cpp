#include "storage/formats/gguf_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "storage/formats/array_name.hpp"
#include "storage/formats/block_lines.hpp"
#include "storage/formats/dense_block_reader.hpp"
#include "tensor/cell_encoding.hpp"

namespace eindb {
namespace {

/// Cells that are decoded at a time, a multiple of all blocks.
constexpr std::int64_t kCellsAtOnce = std::int64_t{1} << 18;

GgufEntry readable_gguf(const InputFile& file, GgufEntry entry) {
  if (entry.stored) return entry;
  throw Error(ErrorKind::Unsupported,
              file.path() + ": tensor " + quoted_name(entry.name) + " has the type " + entry.type, std::nullopt,
              "convert it to Q8_0, Q6_K, Q5_K, Q4_K, Q4_0, BF16, F16 or F32, as llama-quantize does");
}

GgufEntry choose_gguf_tensor(const InputFile& file, const std::string& wanted) {
  auto entries = read_gguf_header(file);
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (const auto& entry : entries) names.push_back(entry.name);
  return readable_gguf(file, std::move(entries[choose_array(file.path(), names, wanted, "TENSOR")]));
}

}  // namespace

GgufReader::GgufReader(const FilePath& path, const std::string& name)
    : file_(path), entry_(choose_gguf_tensor(file_, name)) {}
GgufReader::GgufReader(const FilePath& path, GgufEntry entry)
    : file_(path), entry_(readable_gguf(file_, std::move(entry))) {}

void GgufReader::reshape(const Shape& shape) {
  NpyHeader array{.element = {}, .column_major = false, .shape = entry_.shape, .data_offset = 0};
  reshape_array(array, shape, file_.path());
  entry_.shape = shape;
}

// Units of cells follow each other in row-major order, across rows if these are no whole units.
bool GgufReader::has_whole_units(const std::vector<std::int64_t>& begin, const Shape& extents) const {
  const auto cells = unit_of(type()).cells;
  const auto last = shape().rank() - 1;
  return shape()[last] % cells == 0 && begin[last] % cells == 0 && extents[last] % cells == 0;
}

Tile GgufReader::load_block(const std::vector<std::int64_t>& begin, const Shape& extents) const {
  const auto [cells, bytes] = entry_.unit();
  if (cells == 1 || entry_.quant || !has_whole_units(begin, extents)) return read_block(begin, extents);
  auto tile = Tile::encoded(dtype(), type().encoding, extents);
  BlockLines lines(shape(), false, begin, extents);
  for (BlockLines::Line line; lines.next(line);) {
    CHECK(line.file_offset % cells == 0 && line.tile_offset % cells == 0 && lines.line_length() % cells == 0,
          "rows of whole units begin and end with units");
    file_.read(entry_.data_offset + line.file_offset / cells * bytes,
               tile.mutable_bytes().subspan(static_cast<std::size_t>(line.tile_offset / cells * bytes),
                                            static_cast<std::size_t>(lines.line_length() / cells * bytes)));
  }
  return tile;
}

Tile GgufReader::read_block(const std::vector<std::int64_t>& begin, const Shape& extents) const {
  const auto type = *entry_.stored;
  const auto [cells, bytes] = entry_.unit();
  if (cells == 1) {
    const NpyHeader array{npy_element_of(type), false, entry_.shape, entry_.data_offset};
    return read_dense_block(file_, array, begin, extents);
  }
  auto tile = Tile::uninitialized(type.values, extents);
  const auto width = static_cast<std::int64_t>(size_of(type.values));
  BlockLines lines(entry_.shape, false, begin, extents);
  CHECK(lines.tile_stride() == 1, "rows of a row-major array are rows of its tiles");
  std::vector<std::byte> encoded;
  std::vector<std::byte> values;
  std::vector<float> decoded;
  for (BlockLines::Line line; lines.next(line);) {
    for (std::int64_t done = 0; done < lines.line_length();) {
      const auto first = line.file_offset + done;
      const auto before = first % cells;
      const auto count = std::min(lines.line_length() - done, kCellsAtOnce - before);
      const auto units = (before + count + cells - 1) / cells;
      encoded.resize(static_cast<std::size_t>(units * bytes));
      values.resize(static_cast<std::size_t>(units * cells * width));
      file_.read(entry_.data_offset + (first - before) / cells * bytes, encoded);
      if (entry_.quant) {
        decoded.resize(static_cast<std::size_t>(units * cells));
        decode_blocks(*entry_.quant, encoded, decoded);
        std::memcpy(values.data(), decoded.data(), values.size());
      } else {
        decode_cells(type, encoded, units * cells, type.values, values);
      }
      std::memcpy(tile.mutable_bytes().data() + (line.tile_offset + done) * width, values.data() + before * width,
                  static_cast<std::size_t>(count * width));
      done += count;
    }
  }
  return tile;
}

}  // namespace eindb
