#include "storage/formats/zarr_reader.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "storage/formats/array_name.hpp"
#include "storage/formats/npy_element.hpp"
#include "storage/formats/zarr_store.hpp"
#include "tensor/dense_tensor.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kShareOfChunk = 4;
constexpr std::int64_t kShareOfKeptChunks = 8;
constexpr std::int64_t kMostKept = 1000;
constexpr std::uint64_t kMissingChunk = ~std::uint64_t{0};

std::uint64_t index_number(const std::byte* bytes, bool is_big_endian) {
  std::uint64_t value = 0;
  for (std::size_t n = 0; n < 8; ++n)
    value = value << 8U | std::to_integer<std::uint64_t>(bytes[is_big_endian ? n : 7 - n]);
  return value;
}

std::int64_t offset_of(const std::vector<std::int64_t>& at, const std::vector<std::int64_t>& strides) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < at.size(); ++d) offset += at[d] * strides[d];
  return offset;
}

}  // namespace

ZarrReader::ZarrReader(const FilePath& path, const std::string& name, std::int64_t memory_limit, PackedValues packed)
    : store_(path) {
  choose(name);
  packing_ = array_.packing_of(packed);
  check_chunks(memory_limit);
  const auto values =
      checked_multiply(checked_product(array_.chunk), static_cast<std::int64_t>(size_of(stored_dtype())));
  most_kept_ = static_cast<std::size_t>(
      std::clamp<std::int64_t>(memory_limit / kShareOfKeptChunks / std::max<std::int64_t>(values, 1), 1, kMostKept));
}

// An array is found by its name without looking at the others.
void ZarrReader::choose(const std::string& name) {
  if (!name.empty()) {
    if (auto node = zarr_node(store_, name); node && node->array) {
      name_ = name;
      array_ = std::move(*node->array);
      return;
    }
  }
  auto entries = zarr_arrays(store_);
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.name);
  auto& entry = entries[choose_array(store_.path(), names, name, "MEMBER")];
  if (!entry.array) throw Error(ErrorKind::Unsupported, entry.why);
  name_ = entry.name;
  array_ = std::move(*entry.array);
}

void ZarrReader::check_chunks(std::int64_t memory_limit) const {
  const auto values =
      checked_multiply(checked_product(array_.chunk), static_cast<std::int64_t>(size_of(stored_dtype())));
  if (std::max(values, array_.chunk_bytes()) <= memory_limit / kShareOfChunk) return;
  throw Error(ErrorKind::MemoryLimit,
              store_.path() + " has chunks of " + std::to_string(std::max(values, array_.chunk_bytes())) +
                  " bytes, more than a quarter of memory_limit",
              std::nullopt, "SET memory_limit to more, or write it in smaller chunks");
}

std::optional<Partition> ZarrReader::chunk_partition() const {
  Partition parts;
  for (std::size_t d = 0; d < array_.chunk.size(); ++d) {
    if (shape()[d] != 0 && shape()[d] % array_.chunk[d] != 0) return std::nullopt;
    parts.push_back(std::max<std::int64_t>(1, shape()[d] / array_.chunk[d]));
  }
  return parts;
}

Tile zarr_chunk_values(const ZarrArray& array, std::span<const std::byte> bytes, const std::string& name) {
  const auto rank = array.chunk.size();
  const auto type = array.element.dtype();
  const auto size = size_of(type);
  std::vector<std::int64_t> extents;  // as they lie in the file
  for (const auto dimension : array.order) extents.push_back(array.chunk[dimension]);
  auto stored = Tile::uninitialized(type, Shape(extents));
  const auto count = stored.shape().element_count();
  CHECK(std::cmp_equal(bytes.size(), count * array.element.size), "a chunk has the bytes of its elements");
  const auto done = npy_conversion(array.element)(bytes.data(), stored.mutable_bytes().data(), count, 1);
  if (done != count)
    throw Error(ErrorKind::Value, name + " holds an unsigned integer beyond INT64", std::nullopt,
                "save it as 64-bit floats");
  if (std::is_sorted(array.order.begin(), array.order.end())) return stored;
  auto tile = Tile::uninitialized(type, Shape(array.chunk));
  const auto strides = tile.shape().row_major_strides();
  std::vector<std::int64_t> target;
  for (std::size_t n = 0; n < rank; ++n) target.push_back(strides[array.order[n]]);
  copy_block(tile.mutable_bytes().data(), target, stored.bytes().data(), stored.shape().row_major_strides(), extents,
             size);
  return tile;
}

TilePtr ZarrReader::decoded_chunk(std::vector<std::byte> bytes, const std::string& name) const {
  const auto plain =
      decode_zarr_chunk(std::move(bytes), array_.filters, static_cast<std::size_t>(array_.chunk_bytes()), name);
  return std::make_shared<const Tile>(zarr_chunk_values(array_, plain, name));
}

TilePtr ZarrReader::load_chunk(const std::vector<std::int64_t>& key) {
  if (array_.shards) return load_from_shard(key);
  const auto file = store_.file(zarr_path(name_, array_.file_name(key)));
  if (file == nullptr) return nullptr;
  if (file->size() > most_zarr_bytes(array_.chunk_bytes()))
    throw Error(ErrorKind::Corrupt, file->path() + " has " + std::to_string(file->size()) + " bytes, and a chunk has " +
                                        std::to_string(array_.chunk_bytes()) + " before it is compressed");
  std::vector<std::byte> bytes(static_cast<std::size_t>(file->size()));
  file->read(0, bytes);
  return decoded_chunk(std::move(bytes), file->path());
}

// A shard is a file of chunks, before or behind which stands a list of pairs: where a chunk begins, and its bytes. Both
// are 2^64 - 1 for a chunk that is not there.
void ZarrReader::open_shard(const std::vector<std::int64_t>& key) {
  if (shard_ && shard_->key == key) return;
  shard_.reset();
  Shard shard{.key = key, .file = store_.file(zarr_path(name_, array_.file_name(key))), .index = {}};
  if (shard.file != nullptr) {
    const auto& shards = *array_.shards;
    const auto count = checked_product(shards.chunks);
    const auto plain = checked_multiply(count, 16);
    const auto bytes = checked_add(plain, 4 * static_cast<std::int64_t>(shards.index_filters.size()));
    if (bytes > shard.file->size())
      throw Error(ErrorKind::Corrupt,
                  shard.file->path() + " ends before its index of " + std::to_string(count) + " chunks");
    std::vector<std::byte> index(static_cast<std::size_t>(bytes));
    shard.file->read(shards.index_is_first ? 0 : shard.file->size() - bytes, index);
    index = decode_zarr_chunk(std::move(index), shards.index_filters, static_cast<std::size_t>(plain),
                              shard.file->path() + ", its index");
    for (std::int64_t n = 0; n < 2 * count; ++n)
      shard.index.push_back(index_number(index.data() + 8 * n, shards.index_is_big_endian));
  }
  shard_ = std::move(shard);
}

TilePtr ZarrReader::load_from_shard(const std::vector<std::int64_t>& key) {
  std::vector<std::int64_t> file;
  std::int64_t place = 0;
  for (std::size_t d = 0; d < key.size(); ++d) {
    const auto chunks = array_.shards->chunks[d];
    file.push_back(key[d] / chunks);
    place = place * chunks + key[d] % chunks;
  }
  open_shard(file);
  if (shard_->file == nullptr) return nullptr;
  const auto begin = shard_->index[static_cast<std::size_t>(2 * place)];
  const auto count = shard_->index[static_cast<std::size_t>(2 * place + 1)];
  if (begin == kMissingChunk && count == kMissingChunk) return nullptr;
  const auto size = static_cast<std::uint64_t>(shard_->file->size());
  const auto name = shard_->file->path() + ", chunk " + std::to_string(place);
  if (begin > size || count > size - begin) throw Error(ErrorKind::Corrupt, name + " lies outside its file");
  if (std::cmp_greater(count, most_zarr_bytes(array_.chunk_bytes())))
    throw Error(ErrorKind::Corrupt, name + " has " + std::to_string(count) + " bytes, too many for a chunk");
  std::vector<std::byte> bytes(count);
  shard_->file->read(static_cast<std::int64_t>(begin), bytes);
  return decoded_chunk(std::move(bytes), name);
}

TilePtr ZarrReader::chunk(const std::vector<std::int64_t>& key) {
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.key == key; });
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
    return kept_.front().tile;
  }
  if (kept_.size() >= most_kept_) kept_.pop_back();  // before the next one takes its memory
  kept_.push_front({key, load_chunk(key)});
  return kept_.front().tile;
}

Tile ZarrReader::filled(const Shape& extents) const {
  const auto size = size_of(stored_dtype());
  const auto is_zero = [](std::byte one) { return one == std::byte{}; };
  if (std::all_of(array_.fill.begin(), array_.fill.end(), is_zero)) return Tile::zeros(stored_dtype(), extents);
  auto tile = Tile::uninitialized(stored_dtype(), extents);
  const auto bytes = tile.mutable_bytes();
  for (std::size_t at = 0; at < bytes.size(); at += size) std::memcpy(bytes.data() + at, array_.fill.data(), size);
  return tile;
}

void ZarrReader::copy_chunk(const std::vector<std::int64_t>& key, const std::vector<std::int64_t>& begin, Tile& tile) {
  const auto source = chunk(key);
  if (source == nullptr) return;
  const auto rank = key.size();
  std::vector<std::int64_t> from(rank);
  std::vector<std::int64_t> to(rank);
  std::vector<std::int64_t> extents(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    const auto first = key[d] * array_.chunk[d];
    const auto low = std::max(first, begin[d]);
    const auto high = std::min(first + array_.chunk[d], begin[d] + tile.shape()[d]);
    from[d] = low - first;
    to[d] = low - begin[d];
    extents[d] = high - low;
  }
  const auto size = size_of(stored_dtype());
  const auto source_strides = source->shape().row_major_strides();
  const auto strides = tile.shape().row_major_strides();
  copy_block(tile.mutable_bytes().data() + offset_of(to, strides) * static_cast<std::int64_t>(size), strides,
             source->bytes().data() + offset_of(from, source_strides) * static_cast<std::int64_t>(size), source_strides,
             extents, size);
}

Tile ZarrReader::read_block(const std::vector<std::int64_t>& begin, const Shape& extents) {
  if (extents.element_count() == 0) return Tile::zeros(dtype(), extents);
  auto tile = filled(extents);
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> counts;
  for (std::size_t d = 0; d < extents.rank(); ++d) {
    CHECK(begin[d] >= 0 && begin[d] + extents[d] <= shape()[d], "a block lies in its array");
    first.push_back(begin[d] / array_.chunk[d]);
    counts.push_back((begin[d] + extents[d] - 1) / array_.chunk[d] + 1 - first[d]);
  }
  std::vector<std::int64_t> at(extents.rank(), 0);
  do {
    auto key = at;
    for (std::size_t d = 0; d < key.size(); ++d) key[d] += first[d];
    copy_chunk(key, begin, tile);
  } while (next_index(at, counts));
  return packing_.unpack(std::move(tile), zarr_path(store_.path(), name_));
}

}  // namespace eindb
