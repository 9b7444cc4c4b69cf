#include "cluster/worker_tiles.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "tensor/shape.hpp"

namespace eindb {
namespace {

constexpr std::size_t kWrittenBatchBytes = std::size_t{4} << 20U;

// An unreadable disk is treated like damaged contents, since another worker may have a copy.
bool is_unreadable(const Error& error) { return error.kind() == ErrorKind::Corrupt || error.kind() == ErrorKind::Io; }

}  // namespace

WorkerTiles::WorkerTiles(ShardFile& shards, const PlacedPlan& placed, Rank rank,
                         const std::vector<control::HeldContents>& contents)
    : shards_(shards), rank_(rank) {
  if (contents.size() != placed.holders.size())
    throw Error(ErrorKind::Corrupt, "a statement has contents for each of its lists of holders");
  for (const auto& step : placed.plan.steps) {
    const auto* scan = std::get_if<ScanStep>(&step.op);
    if (scan == nullptr) continue;
    CHECK(scan->holders < placed.holders.size(), "a scan names a list of holders that is there");
    const auto& tensor = scan->tensor;
    const auto& holders = placed.holders[scan->holders];
    auto held = contents[scan->holders].contents();
    if (!held.empty() && held.runs().back().last >= holders.tile_count())
      throw Error(ErrorKind::Corrupt, "a statement has contents of more tiles than there are");
    tensors_[tensor.name] = {tensor.dtype, tensor.stored_grid(), &holders, std::move(held)};
  }
}

TilePtr WorkerTiles::read(const std::string& name, std::int64_t tile_id) {
  return read(name, tile_id, TileForm::Values);
}

TilePtr WorkerTiles::read_cells(const std::string& name, const TileGrid& grid, std::int64_t tile_id) {
  CHECK(grid == tensors_.at(name).grid, "a worker reads tiles in the cut in which they are stored");
  return read(name, tile_id, TileForm::Cells);
}

TilePtr WorkerTiles::read(const std::string& name, std::int64_t tile_id, TileForm form) {
  const auto& tensor = tensors_.at(name);
  CHECK(tile_id >= 0 && tile_id < tensor.holders->tile_count(), "a plan reads tiles that its tensors have");
  const auto content = tensor.holders->holds(rank_, tile_id) ? tensor.contents.of(tile_id) : std::nullopt;
  if (!content)
    throw Error(ErrorKind::Corrupt, "a statement reads a tile of tensor " + name + " that is not to lie here");
  try {
    return read(name, tensor, tile_id, *content, form);
  } catch (const Error& error) {
    if (is_unreadable(error)) {
      const std::lock_guard lock(mutex_);
      unreadable_.insert(*content);
    }
    throw;
  }
}

TilePtr WorkerTiles::read(const std::string& name, const Tensor& tensor, std::int64_t tile_id, ContentId content,
                          TileForm form) {
  CHECK(tile_id >= 0 && tile_id < tensor.grid.tile_count(), "a tile that lies here is one of its tensor");
  const auto key = tensor.grid.key_of(tile_id);
  const auto text = "tile " + bracketed(key) + " of tensor " + name;
  auto tile = shards_.read(content, tensor.dtype, tensor.grid.tile_shape(key), text, form);
  if (tile == nullptr) throw Error(ErrorKind::Corrupt, text + " is not in the worker's data directory");
  return tile;
}

std::vector<ContentId> WorkerTiles::damaged() {
  const std::lock_guard lock(mutex_);
  std::vector<ContentId> out(unreadable_.begin(), unreadable_.end());
  if (out.empty()) return out;
  for (const auto& [name, tensor] : tensors_) {
    const auto& holders = *tensor.holders;
    for (std::int64_t tile = 0; tile < holders.tile_count(); ++tile) {
      const auto content = holders.holds(rank_, tile) ? tensor.contents.of(tile) : std::nullopt;
      if (content && !unreadable_.contains(*content) && !is_readable(name, tensor, tile, *content))
        out.push_back(*content);
    }
  }
  return out;
}

bool WorkerTiles::is_readable(const std::string& name, const Tensor& tensor, std::int64_t tile_id, ContentId content) {
  try {
    read(name, tensor, tile_id, content, TileForm::Values);
  } catch (const Error& error) {
    return !is_unreadable(error);
  }
  return true;
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
  const auto label = waiting.encoded.label();
  stored_.push_back(
      {tile_id, bytes, waiting.encoded.checksum(), label.format, static_cast<std::uint32_t>(label.count)});
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
