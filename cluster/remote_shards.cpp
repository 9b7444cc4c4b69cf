#include "cluster/remote_shards.hpp"

#include <limits>
#include <map>
#include <string>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/memory_wait.hpp"

namespace eindb {
namespace {

// Larger contents are sent alone. Heartbeats are sent between messages.
constexpr std::size_t kMessageBatchBytes = std::size_t{1} << 20U;

class FetchedContent final : public ByteSource {
 public:
  explicit FetchedContent(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  std::size_t size() const override { return bytes_.size(); }
  void read(std::size_t offset, std::span<std::byte> target) const override {
    MemorySource(bytes_).read(offset, target);
  }

 private:
  std::vector<std::byte> bytes_;
};

std::vector<std::byte> joined(std::span<const std::byte> header, std::span<const std::byte> values) {
  std::vector<std::byte> bytes;
  bytes.reserve(header.size() + values.size());
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), values.begin(), values.end());
  return bytes;
}

std::vector<control::SentRange> sent_ranges(std::span<const ContentRange> ranges) {
  std::vector<control::SentRange> sent;
  for (const auto& range : ranges) sent.push_back({range.first, range.last});
  return sent;
}

// In the order asked for; null: the worker does not have it.
std::vector<std::unique_ptr<ByteSource>> sources_of(control::Contents answer, std::size_t asked) {
  if (answer.bytes.size() != asked)
    throw Error(ErrorKind::Corrupt, "a worker sends another number of contents than it was asked for");
  std::vector<std::unique_ptr<ByteSource>> sources;
  for (auto& bytes : answer.bytes)
    sources.push_back(bytes ? std::make_unique<FetchedContent>(std::move(*bytes)) : nullptr);
  return sources;
}

[[maybe_unused]] std::size_t batched_bytes(const std::vector<control::NewContent>& contents) {
  std::size_t bytes = 0;
  for (const auto& content : contents) bytes += content.bytes.size();
  return bytes;
}

}  // namespace

std::vector<ShardWorker> RemoteShards::workers() {
  std::vector<ShardWorker> up;
  for (const auto& connection : connections_)
    if (const auto status = connection->status(); status.state == WorkerState::Up && !status.is_full())
      up.push_back({status.data, status.address});
  return up;
}

std::vector<ShardWorker> RemoteShards::full_workers() {
  std::vector<ShardWorker> full;
  for (const auto& connection : connections_)
    if (const auto status = connection->status(); status.is_full()) full.push_back({status.data, status.address});
  return full;
}

WorkerConnection& RemoteShards::connection_to(const ShardWorker& worker) const {
  for (const auto& connection : connections_)
    if (connection->data() == worker.data) return *connection;
  throw Error(ErrorKind::WorkerLost, "worker " + worker.address + " is not there", std::nullopt,
              "start it with its data directory, and name it in --workers");
}

std::unique_ptr<ByteSource> RemoteShards::fetch(const ShardWorker& worker, ContentId content) {
  auto& connection = connection_to(worker);
  flush(connection, worker.data);
  auto answer = connection.ask<control::Contents>([content](std::uint64_t request) {
    return control::Fetch{request, {content}};
  });
  return std::move(sources_of(std::move(answer), 1).front());
}

// All workers are asked before the first answers.
std::vector<std::unique_ptr<ByteSource>> RemoteShards::fetch_all(std::span<const WantedContent> wanted) {
  std::map<DataId, std::vector<std::size_t>> of_worker;  // by place in `wanted`
  for (std::size_t n = 0; n < wanted.size(); ++n) of_worker[wanted[n].worker.data].push_back(n);
  std::vector<std::optional<WorkerConnection::Request>> requests;
  for (const auto& [data, places] : of_worker) requests.push_back(request_contents(wanted, places));
  std::vector<std::unique_ptr<ByteSource>> found(wanted.size());
  auto request = requests.begin();
  for (const auto& [data, places] : of_worker) {
    auto& asked = *request++;
    if (!asked) continue;
    try {
      auto sources = sources_of(asked->get<control::Contents>(), places.size());
      for (std::size_t n = 0; n < places.size(); ++n) found[places[n]] = std::move(sources[n]);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Cancelled) throw;  // others are told when the contents are fetched one by one
    }
  }
  return found;
}

// Nullopt if the worker cannot be asked.
std::optional<WorkerConnection::Request> RemoteShards::request_contents(std::span<const WantedContent> wanted,
                                                                        const std::vector<std::size_t>& places) {
  std::vector<ContentId> contents;
  for (const auto place : places) contents.push_back(wanted[place].content);
  try {
    const auto& worker = wanted[places.front()].worker;
    auto& connection = connection_to(worker);
    flush(connection, worker.data);
    return connection.request([&](std::uint64_t request) { return control::Fetch{request, contents}; });
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Cancelled) throw;
    return std::nullopt;
  }
}

void RemoteShards::put(const ShardWorker& worker, ShardTransaction transaction, const OutgoingContent& content) {
  auto& connection = connection_to(worker);
  std::vector<control::NewContent> full;
  {
    const std::lock_guard lock(mutex_);
    auto& batch = batches_[{worker.data, transaction}];
    batch.bytes += content.header.size() + content.values.size();
    batch.contents.push_back(
        {content.content, std::string(content.tensor), joined(content.header, content.values), content.since});
    DCHECK(batched_bytes(batch.contents) == batch.bytes, "a batch counts the bytes of its contents");
    if (batch.bytes < kMessageBatchBytes) return;
    full = std::exchange(batch, {}).contents;
  }
  connection.put(transaction, std::move(full));
}

void RemoteShards::flush(WorkerConnection& connection, DataId data) {
  std::vector<std::pair<ShardTransaction, std::vector<control::NewContent>>> waiting;
  {
    const std::lock_guard lock(mutex_);
    const auto first = batches_.lower_bound({data, ShardTransaction{std::numeric_limits<std::int64_t>::min()}});
    auto last = first;
    for (; last != batches_.end() && last->first.first == data; ++last)
      if (!last->second.contents.empty())
        waiting.emplace_back(last->first.second, std::exchange(last->second, {}).contents);
  }
  for (auto& [transaction, contents] : waiting) connection.put(transaction, std::move(contents));
}

void RemoteShards::forget_batch(DataId data, ShardTransaction transaction) {
  const std::lock_guard lock(mutex_);
  batches_.erase({data, transaction});
}

void RemoteShards::prepare(ShardTransaction transaction, std::span<const ShardParticipant> participants) {
  std::vector<WorkerConnection::Request> requests;  // sent to all workers first, as each waits for its disk
  for (const auto& participant : participants) {
    auto& connection = connection_to(participant.worker);
    flush(connection, participant.worker.data);
    forget_batch(participant.worker.data, transaction);
    requests.push_back(connection.request([&](std::uint64_t request) {
      return control::Prepare{request, transaction, participant.contents};
    }));
  }
  for (auto& request : requests) request.get<control::Acknowledged>();
}

void RemoteShards::advance(const ShardWorker& worker, const ShardEpoch& epoch) noexcept {
  try {
    when_there_is_memory([&] { connection_to(worker).send(control::Advance{epoch}); });
  } catch (const std::exception&) {
    // The channel is gone, so later messages would not arrive either.
  }
}

bool RemoteShards::commit(const ShardWorker& worker, ShardTransaction transaction,
                          std::span<const ContentRange> kept) noexcept {
  try {
    connection_to(worker).ask<control::Acknowledged>([&](std::uint64_t request) {
      return control::Commit{request, transaction, sent_ranges(kept)};
    });
    note_end(worker.data, transaction, true);
    return true;
  } catch (const std::exception&) {
    note_end(worker.data, transaction, false);
    note_missed(worker);
    return false;
  }
}

void RemoteShards::abort(const ShardWorker& worker, ShardTransaction transaction) noexcept {
  try {
    forget_batch(worker.data, transaction);
    when_there_is_memory([&] { connection_to(worker).send(control::Abort{transaction}); });
    note_end(worker.data, transaction, true);
  } catch (const std::exception&) {
    // A worker that is not told presumes the abort.
  }
}

void RemoteShards::note_end(DataId data, ShardTransaction transaction, bool is_told) noexcept {
  const std::lock_guard lock(mutex_);
  if (is_told) missed_commits_.erase({data, transaction});
  else when_there_is_memory([&] { missed_commits_.emplace(data, transaction); });
}

std::vector<ShardTransaction> RemoteShards::missed_commits(DataId data) const {
  const std::lock_guard lock(mutex_);
  std::vector<ShardTransaction> missed;
  for (const auto& [place, transaction] : missed_commits_)
    if (place == data) missed.push_back(transaction);
  return missed;
}

bool RemoteShards::drop(const ShardWorker& worker, std::span<const ContentRange> contents,
                        std::int64_t as_of) noexcept {
  try {
    connection_to(worker).ask<control::Acknowledged>([&](std::uint64_t request) {
      return control::Drop{request, sent_ranges(contents), as_of};
    });
    return true;
  } catch (const std::exception&) {
    note_missed(worker);
    return false;
  }
}

// Any one connection settles for all workers.
void RemoteShards::note_unsettled() noexcept {
  for (const auto& connection : connections_)
    if (connection->is_up()) return connection->note_missed();
}

void RemoteShards::note_damage(const ShardWorker& worker, ContentId content, std::string_view what) noexcept {
  const bool is_new = when_there_is_memory([&] { return damaged_.note(worker.data, content); });
  if (is_new) log_.write(NodeLog::Level::Warning, "copy damaged", worker.address, what);
}

bool RemoteShards::repair(const ShardWorker& worker, const OutgoingContent& content) noexcept {
  const auto name = when_there_is_memory([&] {
    return "content " + std::to_string(number(content.content)) + " of tensor " + std::string(content.tensor);
  });
  try {
    const control::NewContent copy{content.content, std::string(content.tensor),
                                   joined(content.header, content.values)};
    connection_to(worker).ask<control::Acknowledged>([&](std::uint64_t request) {
      return control::Repair{request, copy};
    });
    damaged_.note_repair(worker.data, content.content);
    log_.write(NodeLog::Level::Warning, "copy repaired", worker.address, name);
    return true;
  } catch (const std::exception& error) {
    const auto why = when_there_is_memory([&] { return name + ": " + error.what(); });
    log_.write(NodeLog::Level::Warning, "copy not repaired", worker.address, why);
    return false;
  }
}

// The connection's thread tries again.
void RemoteShards::note_missed(const ShardWorker& worker) const noexcept {
  for (const auto& connection : connections_)
    if (connection->data() == worker.data) connection->note_missed();
}

}  // namespace eindb
