#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "storage/files/scratch_file.hpp"

namespace eindb {

/// Sorts any number of records in bounded memory: add() all of them, call finish(), then next() returns them in
/// ascending order.
///
/// Records gather in a buffer. A full buffer is sorted and appended to a scratch file as a run; finish() merges the
/// runs, and next() is the last merge. Example with a buffer for two: 5 3 8 1 9 2 gives the runs [3 5] [1 8] [2 9],
/// whose heads 3, 1, 2 form a heap that yields 1, 2, 3, 5, 8, 9. If there are more runs than read buffers fit in
/// memory, groups of runs are first merged into longer ones. Records that fit the buffer touch no file, and records
/// that arrive in order are not sorted.
///
/// Record is trivially copyable and has operator<. Equal records come in any order. Not thread-safe.
template <class Record>
class ExternalSorter {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  /// `memory`: limit in bytes. `directory`: location of the scratch file. `cancellation` must outlive the sorter.
  ExternalSorter(std::int64_t memory, std::string directory, const Cancellation& cancellation)
      : directory_(std::move(directory)),
        cancellation_(cancellation),
        memory_(memory),
        // A growing buffer holds its old half at the same time.
        capacity_(std::max<std::size_t>(
            kSmallestBuffer, static_cast<std::size_t>(std::min(memory, kLargestBuffer)) / 3 * 2 / sizeof(Record))) {
    CHECK(memory >= 0, "memory that may be taken is not negative");
  }

  bool empty() const { return buffer_.empty() && runs_.empty(); }
  /// Whether any record went to a file.
  bool has_spilled() const { return file_.has_value(); }

  void add(const Record& record) {
    DCHECK(heads_.empty() && position_ == 0, "records are added before the first one is taken");
    if (buffer_.size() == buffer_.capacity()) make_room();
    if (!buffer_.empty() && record < buffer_.back()) in_order_ = false;
    buffer_.push_back(record);
  }

  /// No add() may follow.
  void finish() {
    sort_buffer();
    if (runs_.empty()) return;
    spill();
    buffer_ = {};
    while (runs_.size() > fan_in()) merge_pass();
    open_heads(runs_);
  }

  /// False after the last record.
  bool next(Record& record) {
    if (heads_.empty()) {
      if (position_ == buffer_.size()) return false;
      record = buffer_[position_++];
      return true;
    }
    return next_of_heads(record);
  }

  /// Removes all records, so that the sorter can be reused.
  void clear() {
    buffer_.clear();
    runs_.clear();
    heads_.clear();
    file_.reset();
    position_ = 0;
    in_order_ = true;
  }

 private:
  static constexpr std::size_t kSmallestBuffer = 64;
  /// A sort that runs for more than a second would delay cancellation.
  static constexpr std::int64_t kLargestBuffer = std::int64_t{384} << 20U;
  static constexpr std::int64_t kSmallestBlock = 16 << 10;
  static constexpr std::int64_t kLargestBlock = 1 << 20;

  /// A sorted part of the scratch file, in records.
  struct Run {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  /// The unread rest of a run and its current block in memory; never empty.
  struct Head {
    Run rest;
    std::vector<Record> block;
    std::size_t position = 0;
    const Record& front() const { return block[position]; }
  };

  /// Reversed order for the standard library's heap, whose front is the largest.
  struct Later {
    bool operator()(const Head& a, const Head& b) const { return b.front() < a.front(); }
  };

  void make_room() {
    if (buffer_.size() >= capacity_) {
      sort_buffer();
      spill();
    } else {
      buffer_.reserve(std::min(capacity_, std::max(kSmallestBuffer, buffer_.size() * 2)));
    }
    CHECK(buffer_.size() < buffer_.capacity(), "there is room for another record");
  }

  void sort_buffer() {
    cancellation_.check();
    if (!in_order_) std::sort(buffer_.begin(), buffer_.end());
    in_order_ = true;
  }

  void spill() {
    if (buffer_.empty()) return;
    DCHECK(std::is_sorted(buffer_.begin(), buffer_.end()), "a run is sorted");
    if (!file_) file_.emplace(directory_);
    runs_.push_back(append(*file_, buffer_));
    buffer_.clear();
  }

  static Run append(ScratchFile& file, const std::vector<Record>& records) {
    CHECK(file.size() % static_cast<std::int64_t>(sizeof(Record)) == 0, "a file of runs holds whole records");
    const auto begin = file.size() / static_cast<std::int64_t>(sizeof(Record));
    file.append(std::as_bytes(std::span(records)));
    return {begin, begin + static_cast<std::int64_t>(records.size())};
  }

  std::size_t fan_in() const {
    return static_cast<std::size_t>(std::max<std::int64_t>(2, memory_ / kSmallestBlock / 2));
  }

  void open_heads(std::span<const Run> runs) {
    CHECK(heads_.empty() && !runs.empty(), "a merge begins with runs alone");
    const auto share = memory_ / 2 / static_cast<std::int64_t>(runs.size() + 1);
    const auto bytes = std::clamp(share, kSmallestBlock, kLargestBlock);
    block_records_ = std::max<std::int64_t>(1, bytes / static_cast<std::int64_t>(sizeof(Record)));
    for (const auto& run : runs) {
      heads_.push_back({.rest = run, .block = {}, .position = 0});
      refill(heads_.back());
    }
    std::make_heap(heads_.begin(), heads_.end(), Later{});
  }

  /// False at the end of the run.
  bool refill(Head& head) {
    cancellation_.check();
    CHECK(head.rest.begin <= head.rest.end, "a run is read up to its end");
    const auto count = std::min(block_records_, head.rest.end - head.rest.begin);
    head.block.resize(static_cast<std::size_t>(count));
    head.position = 0;
    if (count == 0) return false;
    file_->read_at(head.rest.begin * static_cast<std::int64_t>(sizeof(Record)),
                   std::as_writable_bytes(std::span(head.block)));
    head.rest.begin += count;
    return true;
  }

  bool next_of_heads(Record& record) {
    if (heads_.front().block.empty()) return false;
    DCHECK(heads_.front().position < heads_.front().block.size(), "a head has a record in memory");
    record = heads_.front().front();
    ++heads_.front().position;
    if (heads_.front().position < heads_.front().block.size() || refill(heads_.front())) {
      sink_front();
    } else if (heads_.size() > 1) {
      std::swap(heads_.front(), heads_.back());
      heads_.pop_back();
      sink_front();
    }
    return true;
  }

  /// Restores the heap after the front head has advanced.
  void sink_front() {
    std::size_t at = 0;
    for (;;) {
      auto child = 2 * at + 1;
      if (child >= heads_.size()) return;
      if (child + 1 < heads_.size() && heads_[child + 1].front() < heads_[child].front()) ++child;
      if (!(heads_[child].front() < heads_[at].front())) return;
      std::swap(heads_[at], heads_[child]);
      at = child;
    }
  }

  /// Merges groups of runs into one run each, in a new file.
  void merge_pass() {
    ScratchFile merged(directory_);
    std::vector<Run> longer;
    for (std::size_t first = 0; first < runs_.size(); first += fan_in()) {
      open_heads(std::span(runs_).subspan(first, std::min(fan_in(), runs_.size() - first)));
      longer.push_back(merge_heads(merged));
      heads_.clear();
    }
    CHECK(records_in(longer) == records_in(runs_), "a merge keeps all records");
    runs_ = std::move(longer);
    file_ = std::move(merged);
  }

  static std::int64_t records_in(const std::vector<Run>& runs) {
    std::int64_t records = 0;
    for (const auto& run : runs) records += run.end - run.begin;
    return records;
  }

  Run merge_heads(ScratchFile& target) {
    std::vector<Record> block;
    block.reserve(static_cast<std::size_t>(block_records_));
    Run whole;
    whole.begin = whole.end = target.size() / static_cast<std::int64_t>(sizeof(Record));
    for (Record record; next_of_heads(record);) {
      block.push_back(record);
      if (block.size() < block.capacity()) continue;
      whole.end = append(target, block).end;
      block.clear();
    }
    if (!block.empty()) whole.end = append(target, block).end;
    return whole;
  }

  std::string directory_;
  const Cancellation& cancellation_;
  std::int64_t memory_;
  std::size_t capacity_;
  std::vector<Record> buffer_;
  bool in_order_ = true;
  std::size_t position_ = 0;  // in the buffer, if nothing was spilled
  std::optional<ScratchFile> file_;
  std::vector<Run> runs_;
  std::vector<Head> heads_;  // a heap; the last head stays when empty
  std::int64_t block_records_ = 1;
};

}  // namespace eindb
