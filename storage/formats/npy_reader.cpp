#include "storage/formats/npy_reader.hpp"

#include "storage/formats/dense_block_reader.hpp"

namespace eindb {

NpyReader::NpyReader(const FilePath& path) : file_(path), header_(read_npy_header(file_)) {}

Tile NpyReader::read_block(const std::vector<std::int64_t>& begin, const Shape& extents) const {
  return read_dense_block(file_, header_, begin, extents);
}

}  // namespace eindb
