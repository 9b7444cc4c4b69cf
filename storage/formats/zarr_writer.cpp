// zarr_metadata.cpp documents the format.

#include "storage/formats/zarr_writer.hpp"

#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "storage/files/directory_path.hpp"
#include "storage/formats/array_name.hpp"
#include "storage/formats/dense_block_writer.hpp"
#include "storage/formats/zarr_store.hpp"

namespace eindb {
namespace {

/// The names of a path in a store: none of them is one of Zarr's own files.
std::vector<std::string> zarr_components(const std::string& name) {
  if (name.empty()) return {};
  auto names = components_below(name);
  for (const auto& one : names)
    if (one.starts_with('.') || one.starts_with("__") || one == "zarr.json")
      throw Error(ErrorKind::Value, "an array of Zarr cannot have the name " + quoted_name(name), std::nullopt,
                  "names that begin with '.' or '__' are Zarr's own");
  return names;
}

[[noreturn]] void there_is(const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::DuplicateName, what, std::nullopt, hint);
}

}  // namespace

ZarrWriter::ZarrWriter(const FilePath& path, const ZarrNewArray& made, Overwrite overwrite)
    : compression_(made.compression) {
  array_.element = npy_file_element_of(made.type);
  array_.shape = made.shape;
  array_.labels = made.labels;
  array_.chunk = made.chunk;
  array_.order.resize(made.chunk.size());
  std::iota(array_.order.begin(), array_.order.end(), std::size_t{0});
  array_.version = made.version.value_or(2);
  find_place(path, made, overwrite);
  array_.has_chunk_prefix = array_.version == 3;
  array_.separator = array_.version == 3 ? '/' : '.';
  for (const auto& group : new_groups_)
    write_text(zarr_path(group, array_.version == 2 ? ".zgroup" : "zarr.json"), zarr_group_text(array_.version));
  if (array_.version == 2) write_text(zarr_path(inside_, ".zattrs"), zarr_attributes_text(array_));
}

// Goes down from the store to the first directory that is not there, or to the array that is replaced: that one
// appears.
void ZarrWriter::find_place(const FilePath& path, const ZarrNewArray& made, Overwrite overwrite) {
  const auto names = zarr_components(made.name);
  const auto store = InputDirectory::find(path);
  std::string at;
  std::size_t depth = 0;
  for (; store != nullptr && (depth == 0 || store->has_directory(at)); ++depth) {
    if (store->is_empty(at)) break;
    const auto place = zarr_path(path.text(), at);
    const auto node = zarr_node(*store, at);
    if (!node)
      throw Error(ErrorKind::DuplicateName, place + " is a directory with other files, and no store of Zarr",
                  std::nullopt, "write to another path");
    if (depth == names.size()) {
      const bool is_same = node->array && depth == 0;
      if (!is_same && overwrite == Overwrite::No)
        there_is(node->array ? place + " is an array already" : place + " has arrays in it, which would be lost",
                 node->array || depth > 0 ? "add OVERWRITE to replace it"
                                          : "MEMBER 'name' adds an array to it, and OVERWRITE replaces all of it");
      replaces_ = true;
    } else if (node->array) {
      there_is(place + " is an array, and has no arrays in it", "write to another store");
    } else if (is_consolidated(*store, at, *node)) {
      throw Error(ErrorKind::Unsupported, place + " has consolidated metadata, which would not tell of a new array",
                  std::nullopt, "remove .zmetadata, and call zarr.consolidate_metadata afterwards");
    }
    if (depth > 0 || !replaces_) {
      if (made.version && *made.version != node->version)
        throw Error(ErrorKind::Unsupported, place + " is of version " + std::to_string(node->version) + " of Zarr",
                    std::nullopt, "leave out VERSION, or write to another store");
      array_.version = node->version;
    }
    if (depth == names.size()) break;
    at = zarr_path(at, names[depth]);
  }
  // `depth` names are of directories that appear or that there are.
  std::string inside;
  for (auto n = depth; n < names.size(); ++n) {
    new_groups_.push_back(inside);
    inside = zarr_path(inside, names[n]);
  }
  inside_ = inside;
  if (at.empty()) directory_.emplace(path);
  else directory_.emplace(path.below(at));
}

void ZarrWriter::commit() {
  const bool has_all_chunks = written_ == checked_product(array_.files());
  write_text(zarr_path(inside_, array_.version == 2 ? ".zarray" : "zarr.json"),
             zarr_array_text(array_, compression_, has_all_chunks));
  directory_->commit(replaces_);
}

void ZarrWriter::write_text(const std::string& name, const std::string& text) {
  directory_->write(name, std::as_bytes(std::span(text)));
}

void ZarrWriter::write_chunk(const std::vector<std::int64_t>& key, const Tile& chunk) {
  CHECK(chunk.dtype() == array_.element.dtype() && chunk.shape().extents() == array_.chunk,
        "a chunk has the type and the extents of its array's");
  std::vector<std::byte> bytes(static_cast<std::size_t>(array_.chunk_bytes()));
  const auto put = [&](std::int64_t offset, std::span<const std::byte> run) {
    if (!run.empty()) std::memcpy(bytes.data() + offset, run.data(), run.size());
  };
  write_dense_block(chunk.shape(), std::vector<std::int64_t>(key.size(), 0), chunk, array_.element, put);
  const auto written = encode_zarr_chunk(bytes, compression_, static_cast<std::size_t>(array_.element.size));
  directory_->write(zarr_path(inside_, array_.file_name(key)), written);
  ++written_;
}

}  // namespace eindb
