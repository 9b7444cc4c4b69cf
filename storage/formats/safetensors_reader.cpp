#include "storage/formats/safetensors_reader.hpp"

#include "common/error.hpp"
#include "storage/formats/array_name.hpp"
#include "storage/formats/dense_block_reader.hpp"

namespace eindb {
namespace {

NpyHeader readable(const InputFile& file, const SafetensorsEntry& entry) {
  if (entry.is_readable) return entry.array;
  throw Error(ErrorKind::Unsupported,
              file.path() + ": tensor " + quoted_name(entry.name) + " has the dtype " + entry.type, std::nullopt,
              "convert it to BF16 or F32 first");
}

NpyHeader choose_tensor(const InputFile& file, const std::string& wanted) {
  const auto entries = read_safetensors_header(file);
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (const auto& entry : entries) names.push_back(entry.name);
  return readable(file, entries[choose_array(file.path(), names, wanted, "TENSOR")]);
}

}  // namespace

SafetensorsReader::SafetensorsReader(const FilePath& path, const std::string& name)
    : file_(path), array_(choose_tensor(file_, name)) {}
SafetensorsReader::SafetensorsReader(const FilePath& path, const SafetensorsEntry& entry)
    : file_(path), array_(readable(file_, entry)) {}

Tile SafetensorsReader::read_block(const std::vector<std::int64_t>& begin, const Shape& extents) const {
  return read_dense_block(file_, array_, begin, extents);
}

}  // namespace eindb
