#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "storage/shards/shard_access.hpp"
#include "storage/shards/shard_log.hpp"
#include "storage/shards/sharded_contents.hpp"
#include "storage/tiles/database_file.hpp"
#include "storage/worker_file/shard_file.hpp"

namespace eindb {

/// A range for each content.
inline std::vector<ContentRange> ranges_of(const std::vector<ContentId>& contents) {
  std::vector<ContentRange> ranges;
  for (const auto content : contents) ranges.push_back({content, content});
  return ranges;
}

/// Workers in this process: shard files in directories worker-0, worker-1, ... Workers can be taken away, and all
/// activity can be stopped at any step, as if the coordinator's process had been killed there.
class LocalShards final : public ShardAccess {
 public:
  /// The directory must exist.
  LocalShards(const std::string& directory, std::size_t workers) {
    for (std::size_t n = 0; n < workers; ++n)
      files_.push_back(std::make_unique<ShardFile>(directory + "/worker-" + std::to_string(n)));
  }

  std::vector<ShardWorker> workers() override {
    std::vector<ShardWorker> out;
    for (std::size_t n = 0; n < files_.size(); ++n)
      if (!lost_.contains(n)) out.push_back({files_[n]->id(), "worker-" + std::to_string(n)});
    return out;
  }

  std::unique_ptr<ByteSource> fetch(const ShardWorker& worker, ContentId content) override {
    return file(worker).open(content);
  }

  std::vector<std::unique_ptr<ByteSource>> fetch_all(std::span<const WantedContent> wanted) override {
    std::vector<std::unique_ptr<ByteSource>> found;
    for (const auto& [worker, content] : wanted) {
      auto& source = found.emplace_back();
      try {
        source = fetch(worker, content);
      } catch (const Error&) {  // as if the worker could not be asked
      }
    }
    ++times_fetched_together_;
    return found;
  }
  int times_fetched_together() const { return times_fetched_together_; }

  void put(const ShardWorker& worker, ShardTransaction transaction, const OutgoingContent& content) override {
    step([&] { file(worker).put(transaction, std::span(&content, 1)); });
  }

  void prepare(ShardTransaction transaction, std::span<const ShardParticipant> participants) override {
    for (const auto& participant : participants)
      step([&] { file(participant.worker).prepare(transaction, participant.contents); });
  }

  void advance(const ShardWorker& worker, const ShardEpoch& epoch) noexcept override {
    attempt([&] { file(worker).advance(epoch); });
  }

  bool commit(const ShardWorker& worker, ShardTransaction transaction,
              std::span<const ContentRange> kept) noexcept override {
    return attempt([&] { file(worker).commit(transaction, kept); });
  }

  void abort(const ShardWorker& worker, ShardTransaction transaction) noexcept override {
    attempt([&] { file(worker).abort(transaction); });
  }

  bool drop(const ShardWorker& worker, std::span<const ContentRange> contents, std::int64_t as_of) noexcept override {
    return attempt([&] { file(worker).drop(contents, as_of); });
  }

  void note_unsettled() noexcept override {}
  void note_damage(const ShardWorker&, ContentId, std::string_view) noexcept override { ++noticed_; }
  bool repair(const ShardWorker& worker, const OutgoingContent& content) noexcept override {
    return attempt([&] { file(worker).repair(content); });
  }
  /// Copies found damaged, with repetitions.
  int noticed() const { return noticed_; }

  ShardFile& worker(std::size_t n) { return *files_[n]; }
  std::int64_t contents() {
    std::int64_t all = 0;
    for (const auto& file : files_) all += file->usage().contents;
    return all;
  }

  void lose(std::size_t worker) { lost_.insert(worker); }
  void find_again(std::size_t worker) { lost_.erase(worker); }

  /// Stops everything before step n, counted from 0. Each call to a worker has two steps: before it, and after it is
  /// done.
  void stop_at(int n) { steps_left_ = n; }
  bool has_stopped() const { return steps_left_ < 0; }

  /// Simulates the return of workers: they ask for the decision on their prepared transactions.
  void resolve(DatabaseFile& database) {
    ShardLog log(database.connection());
    for (const auto& file : files_) {
      for (const auto transaction : file->undecided()) {
        const auto decision = log.decision(transaction);
        if (decision.committed) file->commit(transaction, decision.kept);
        else file->abort(transaction);
      }
    }
  }

 private:
  ShardFile& file(const ShardWorker& worker) {
    for (std::size_t n = 0; n < files_.size(); ++n)
      if (files_[n]->id() == worker.data && !lost_.contains(n)) return *files_[n];
    throw Error(ErrorKind::WorkerLost, "worker " + worker.address + " does not answer");
  }

  void count_down() {
    if (steps_left_ < 0 || steps_left_-- == 0) throw Error(ErrorKind::WorkerLost, "the coordinator is gone");
  }

  template <class Action>
  void step(Action&& action) {
    count_down();
    std::forward<Action>(action)();
    count_down();
  }

  template <class Action>
  bool attempt(Action&& action) noexcept {
    try {
      step(std::forward<Action>(action));
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  std::vector<std::unique_ptr<ShardFile>> files_;
  std::set<std::size_t> lost_;
  int steps_left_ = 1 << 30;
  std::atomic<int> noticed_{0};
  std::atomic<int> times_fetched_together_{0};
};

}  // namespace eindb
