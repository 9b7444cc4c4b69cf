#include "cluster/worker_tiles.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "tensor/shape.hpp"

namespace eindb {
namespace {

constexpr std::size_t kWrittenBatchBytes = std::size_t{4} << 20U;

// Maps the tiles that the rank holds, in ascending order, to their contents.
std::map<std::int64_t, ContentId> contents_of(const TileHolders& holders, Rank rank,
                                              const std::vector<ContentId>& contents) {
  std::map<std::int64_t, ContentId> by_tile;
  auto next = contents.begin();
  for (std::int64_t tile = 0; tile < holders.tile_count() && next != contents.end(); ++tile) {
    const auto ranks = holders.of(tile);
    if (std::find(ranks.begin(), ranks.end(), rank) != ranks.end()) by_tile.emplace_hint(by_tile.end(), tile, *next++);
  }
  if (next != contents.end()) throw Error(ErrorKind::Corrupt, "a statement has contents of more tiles than there are");
  return by_tile;
}

// An unreadable disk is treated like damaged contents, since another worker may have a copy.
bool is_unreadable(const Error& error) { return error.kind() == ErrorKind::Corrupt || error.kind() == ErrorKind::Io; }

}  // namespace

WorkerTiles::WorkerTiles(ShardFile& shards, const PlacedPlan& placed, Rank rank,
                         const std::vector<std::vector<ContentId>>& contents)
    : shards_(shards) {
  if (contents.size() != placed.holders.size())
    throw Error(ErrorKind::Corrupt, "a statement has contents for each of its lists of holders");
  for (const auto& step : placed.plan.steps) {
    const auto* scan = std::get_if<ScanStep>(&step.op);
    if (scan == nullptr) continue;
    CHECK(scan->holders < placed.holders.size(), "a scan names a list of holders that is there");
    const auto& tensor = scan->tensor;
    tensors_[tensor.name] = {tensor.dtype, tensor.stored_grid(),
                             contents_of(placed.holders[scan->holders], rank, contents[scan->holders])};
  }
}

TilePtr WorkerTiles::read(const std::string& name, std::int64_t tile_id) {
  const auto& tensor = tensors_.at(name);
  const auto content = tensor.contents.find(tile_id);
  if (content == tensor.contents.end())
    throw Error(ErrorKind::Corrupt, "a statement reads a tile of tensor " + name + " that is not to lie here");
  try {
    return read(name, tensor, tile_id, content->second);
  } catch (const Error& error) {
    if (is_unreadable(error)) {
      const std::lock_guard lock(mutex_);
      unreadable_.insert(content->second);
    }
    throw;
  }
}

TilePtr WorkerTiles::read(const std::string& name, const Tensor& tensor, std::int64_t tile_id, ContentId content) {
  CHECK(tile_id >= 0 && tile_id < tensor.grid.tile_count(), "a tile that lies here is one of its tensor");
  const auto key = tensor.grid.key_of(tile_id);
  const auto text = "tile " + bracketed(key) + " of tensor " + name;
  auto tile = shards_.read(content, tensor.dtype, tensor.grid.tile_shape(key), text);
  if (tile == nullptr) throw Error(ErrorKind::Corrupt, text + " is not in the worker's data directory");
  return tile;
}

std::vector<ContentId> WorkerTiles::damaged() {
  const std::lock_guard lock(mutex_);
  std::vector<ContentId> out(unreadable_.begin(), unreadable_.end());
  if (out.empty()) return out;
  for (const auto& [name, tensor] : tensors_) {
    for (const auto& [tile, content] : tensor.contents) {
      if (unreadable_.contains(content)) continue;
      try {
        read(name, tensor, tile, content);
      } catch (const Error& error) {
        if (is_unreadable(error)) out.push_back(content);
      }
    }
  }
  return out;
}

/// Counts one batch of contents.
class PutGate::Passage {
 public:
  explicit Passage(PutGate& gate) : gate_(gate) {
    const std::lock_guard lock(gate_.mutex_);
    if (gate_.is_closed_) throw Error(ErrorKind::Cancelled, "the statement was given up");
    CHECK(gate_.passing_ >= 0, "who leaves a gate has gone in");
    ++gate_.passing_;
  }
  ~Passage() {
    const std::lock_guard lock(gate_.mutex_);
    if (--gate_.passing_ == 0) gate_.idle_.notify_all();
  }
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;

 private:
  PutGate& gate_;
};

void PutGate::put(ShardTransaction transaction, const std::vector<OutgoingContent>& contents) {
  const Passage passage(*this);
  shards_.put(transaction, contents);
}

void PutGate::close() noexcept {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
}

void PutGate::wait_until_idle() noexcept {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return passing_ == 0; });
}

void WorkerSink::write(std::int64_t tile_id, TilePtr tile) {
  if (tile == nullptr) return;
  CHECK(stored_.empty() || stored_.back().tile < tile_id, "tiles of a result come in ascending order");
  const ContentId content{number(result_.first) + tile_id};
  const auto name = [&](std::int64_t) { return "a cell of tile " + std::to_string(tile_id) + " of " + result_.tensor; };
  EncodedTile encoded(*tile, result_.encoding, name, result_.formats);
  const auto& waiting = waiting_.emplace_back(Waiting{content, std::move(tile), std::move(encoded)});
  const auto bytes = waiting.encoded.size();
  stored_.push_back({tile_id, bytes, waiting.encoded.checksum()});
  // Of the two, the encoded tile may take far less, and the other waits with it.
  waiting_bytes_ += std::max(bytes, waiting.tile->byte_size());
  if (waiting_bytes_ >= kWrittenBatchBytes) flush();
}

std::vector<StoredTile> WorkerSink::finish() {
  flush();
  return std::move(stored_);
}

void WorkerSink::flush() {
  CHECK(waiting_.size() <= stored_.size(), "a tile that waits is one of those that are stored");
  std::vector<OutgoingContent> contents;
  for (const auto& [content, tile, encoded] : waiting_)
    contents.push_back({content, result_.tensor, encoded.header(), encoded.values()});
  if (!contents.empty()) gate_.put(result_.transaction, contents);
  waiting_.clear();
  waiting_bytes_ = 0;
}

}  // namespace eindb
