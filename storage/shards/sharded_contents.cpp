#include "storage/shards/sharded_contents.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "common/memory_wait.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"

namespace eindb {
namespace {

/// Disables the busy timeout while it exists, for work that can be done later.
class ImpatientScope {
 public:
  explicit ImpatientScope(SqliteConnection& connection) : connection_(connection), saved_(connection.busy_timeout()) {
    connection_.set_busy_timeout(std::chrono::milliseconds(0));
  }
  ~ImpatientScope() { connection_.set_busy_timeout(saved_); }
  ImpatientScope(const ImpatientScope&) = delete;
  ImpatientScope& operator=(const ImpatientScope&) = delete;

 private:
  SqliteConnection& connection_;
  std::chrono::milliseconds saved_;
};

/// While it exists, waiting for workers ends when the connection's statement is cancelled.
class CancellableScope {
 public:
  explicit CancellableScope(const SqliteConnection& connection) {
    if (connection.watched() != nullptr) scope_.emplace(*connection.watched());
  }

 private:
  std::optional<CancellationScope> scope_;
};

[[noreturn]] void damaged(std::string_view tile, const ShardWorker& worker, const char* what) {
  throw Error(ErrorKind::Corrupt, std::string(tile) + " is damaged: worker " + worker.address + " has " + what);
}

/// An unreadable disk at a worker counts as damaged contents.
bool is_unreadable(const Error& error) { return error.kind() == ErrorKind::Corrupt || error.kind() == ErrorKind::Io; }

std::string joined(const std::vector<std::string>& reasons) {
  std::string out;
  for (const auto& reason : reasons) out += (out.empty() ? "" : "; ") + reason;
  return out;
}

}  // namespace

ShardedContents::ShardedContents(SqliteConnection& connection, std::shared_ptr<ShardAccess> access)
    : connection_(connection), access_(std::move(access)), log_(connection) {
  CHECK(access_ != nullptr, "contents lie at workers that can be reached");
}

ShardedContents& ShardedContents::begin(SqliteConnection& connection, std::shared_ptr<ShardAccess> access) {
  CHECK(!connection.in_transaction(), "contents take part in transactions from their beginning");
  auto contents = std::make_unique<ShardedContents>(connection, std::move(access));
  auto& begun = *contents;
  connection.set_commit_hooks(std::move(contents));
  return begun;
}

ShardedContents* ShardedContents::of(const SqliteConnection& connection) {
  return dynamic_cast<ShardedContents*>(connection.commit_hooks());
}

LocatedContent ShardedContents::locate(TileReference reference) {
  LocatedContent out;
  CHECK(!reference.workers.empty(), "a content that is referred to lies somewhere");
  for (const auto worker : reference.workers) out.workers.push_back(log_.worker(worker));
  out.reference = std::move(reference);
  return out;
}

ShardedContents::Copy ShardedContents::fetch_from(const ShardWorker& worker, const TileReference& reference,
                                                  const Wanted& wanted) {
  return checked(worker, reference, wanted, [&] { return access_->fetch(worker, reference.content); });
}

// Reports unreadable contents to the damage list.
template <class Ask>
ShardedContents::Copy ShardedContents::checked(const ShardWorker& worker, const TileReference& reference,
                                               const Wanted& wanted, const Ask& ask) {
  try {
    auto source = ask();
    if (source == nullptr) damaged(wanted.tile, worker, "no such content");
    if (source->size() != reference.bytes || encoded_checksum(*source) != reference.checksum)
      damaged(wanted.tile, worker, "another content than was written");
    auto tile = std::make_shared<const Tile>(
        load_tile(*source, wanted.type, wanted.shape, wanted.tile + " at worker " + worker.address, wanted.form));
    return {std::move(tile), std::move(source)};
  } catch (const Error& error) {
    if (is_unreadable(error)) access_->note_damage(worker, reference.content, error.message());
    throw;
  }
}

TilePtr ShardedContents::fetch(const LocatedContent& content, const Wanted& wanted) {
  const CancellableScope scope(connection_);
  CHECK(content.workers.size() == content.reference.workers.size(), "each copy of a content has its worker");
  std::vector<std::string> reasons;
  std::vector<ShardWorker> damaged;
  for (const auto& worker : content.workers) {
    try {
      auto copy = fetch_from(worker, content.reference, wanted);
      repair(damaged, content.reference, wanted, *copy.bytes);
      return std::move(copy.tile);
    } catch (const Error& error) {
      if (is_unreadable(error)) damaged.push_back(worker);
      else if (error.kind() != ErrorKind::WorkerLost) throw;
      if (content.workers.size() == 1 && is_unreadable(error)) throw;
      reasons.push_back(worker.address + ": " + error.message());
    }
  }
  const bool all_damaged = damaged.size() == content.workers.size();
  throw Error(all_damaged ? ErrorKind::Corrupt : ErrorKind::WorkerLost,
              "no worker has " + wanted.tile + " (" + joined(reasons) + ")", std::nullopt,
              "start the worker on its data directory again; CREATE TENSOR ... REPLICAS 2 keeps copies");
}

// What the first worker of a tile does not give as it was written is fetched like a single tile.
std::vector<TilePtr> ShardedContents::fetch_all(const std::vector<WantedTile>& tiles) {
  const CancellableScope scope(connection_);
  std::vector<WantedContent> asked;
  for (const auto& [content, wanted] : tiles) asked.push_back({content.workers.front(), content.reference.content});
  auto sources = access_->fetch_all(asked);
  CHECK(sources.size() == tiles.size(), "each content that is asked for has an answer");
  std::vector<TilePtr> out(tiles.size());
  for (std::size_t n = 0; n < tiles.size(); ++n) {
    const auto& [content, wanted] = tiles[n];
    if (sources[n] != nullptr) {
      try {
        out[n] = checked(asked[n].worker, content.reference, wanted, [&] { return std::move(sources[n]); }).tile;
      } catch (const Error& error) {
        if (!is_unreadable(error)) throw;
      }
    }
    if (out[n] == nullptr) out[n] = fetch(content, wanted);
  }
  return out;
}

void ShardedContents::mend(const LocatedContent& content, const Wanted& wanted) {
  std::vector<ShardWorker> damaged;
  Copy good;
  for (const auto& worker : content.workers) {
    try {
      good = fetch_from(worker, content.reference, wanted);
    } catch (const Error& error) {
      if (is_unreadable(error)) damaged.push_back(worker);
      else if (error.kind() != ErrorKind::WorkerLost) throw;
    }
  }
  // A copy that was unreadable before and is readable now is rewritten too, since it counts as damaged until then.
  if (good.tile != nullptr) repair(damaged.empty() ? content.workers : damaged, content.reference, wanted, *good.bytes);
}

// An open transaction fails if a worker has lost part of it; its contents are not repaired.
void ShardedContents::repair(const std::vector<ShardWorker>& workers, const TileReference& reference,
                             const Wanted& wanted, const ByteSource& good) {
  if (workers.empty() || is_of_running(reference.content)) return;
  std::vector<std::byte> bytes(good.size());
  good.read(0, bytes);
  for (const auto& worker : workers) access_->repair(worker, {reference.content, wanted.tensor, bytes, {}});
}

bool ShardedContents::is_of_running(ContentId content) {
  const std::lock_guard lock(mutex_);
  return running_ && std::any_of(running_->contents.begin(), running_->contents.end(), [&](const ContentRange& range) {
           return range.first <= content && content <= range.last;
         });
}

ShardTransaction ShardedContents::transaction() {
  CHECK(connection_.in_transaction(), "contents are written inside a transaction");
  const std::lock_guard lock(mutex_);
  if (!running_) running_.emplace(Running{.id = access_->numbers().transaction(), .participants = {}, .contents = {}});
  running_->prepared = false;
  return running_->id;
}

// Once for each transaction, and again if a savepoint took that back.
void ShardedContents::advance() {
  CHECK(connection_.in_transaction(), "an epoch begins with the transaction that it counts");
  if (advanced_to_ && *advanced_to_ == log_.epoch_number()) return;
  log_.advance(access_->numbers().stamp());
  advanced_to_ = log_.epoch_number();
}

std::vector<WorkerNumber> ShardedContents::numbers_of(std::span<const ShardWorker> workers) {
  std::vector<WorkerNumber> numbers;
  for (const auto& worker : workers) numbers.push_back(log_.number_of(worker));
  return numbers;
}

std::vector<ShardWorker> ShardedContents::placing_workers() {
  auto workers = access_->workers();
  const auto leaving = log_.leaving();
  std::erase_if(workers, [&](const ShardWorker& worker) { return leaving.contains(worker.data); });
  return workers;
}

void ShardedContents::set_leaving(const ShardWorker& worker, bool leaves) {
  log_.set_leaving(worker, leaves);
  advance();
}

// A worker may have begun to leave after the statement was planned. Inside a transaction that has the lock of writers
// that is known for sure.
void ShardedContents::require_staying(std::span<const ShardWorker> workers) {
  {
    const std::lock_guard lock(mutex_);
    if (running_ && std::all_of(workers.begin(), workers.end(),
                                [&](const auto& worker) { return running_->participants.contains(worker.data); }))
      return;
  }
  const auto leaving = log_.leaving();
  for (const auto& worker : workers)
    if (leaving.contains(worker.data))
      throw Error(ErrorKind::WorkerLost, "worker " + worker.address + " is being drained, and stores no new tiles",
                  std::nullopt, "run the statement again: it then stores its tiles elsewhere");
}

ContentId ShardedContents::announce(std::int64_t count, std::span<const ShardWorker> workers) {
  CHECK(count > 0 && !workers.empty(), "contents lie somewhere");
  require_staying(workers);
  const auto id = transaction();
  {
    const std::lock_guard lock(mutex_);
    for (const auto& worker : workers) running_->participants.try_emplace(worker.data, ShardParticipant{worker, 0});
  }
  const auto first = access_->numbers().contents(count);
  const ContentRange announced{first, ContentId{number(first) + count - 1}};
  log_.keep(id, announced, numbers_of(workers));
  advance();
  const std::lock_guard lock(mutex_);
  CHECK(running_ && running_->id == id, "an announcement belongs to the transaction that it began in");
  auto& ranges = running_->contents;
  CHECK(ranges.empty() || ranges.back().last < first, "contents are numbered in ascending order");
  if (!ranges.empty() && number(ranges.back().last) + 1 == number(first)) ranges.back().last = announced.last;
  else ranges.push_back(announced);
  return first;
}

void ShardedContents::adopt(ShardTransaction transaction, std::span<const ShardParticipant> participants) {
  CHECK(connection_.in_transaction() && !participants.empty(), "copies at workers become part of a transaction");
  const std::lock_guard lock(mutex_);
  CHECK(!running_, "copies are adopted by a transaction that stores nothing else");
  running_.emplace(Running{.id = transaction, .participants = {}, .contents = {}});
  for (const auto& participant : participants) running_->participants.emplace(participant.worker.data, participant);
}

void ShardedContents::keep_copy(ContentId content, std::span<const ShardWorker> workers) {
  {
    const std::lock_guard lock(mutex_);
    CHECK(running_.has_value(), "copies are kept by the transaction that has adopted them");
    running_->contents.push_back({content, content});
  }
  log_.keep(running_->id, {content, content}, numbers_of(workers));
  advance();
}

void ShardedContents::send(const OutgoingContent& content, std::span<const ShardWorker> workers) {
  ShardTransaction id{};
  {
    const std::lock_guard lock(mutex_);
    CHECK(running_.has_value(), "contents are sent after they were announced");
    id = running_->id;
  }
  const CancellableScope scope(connection_);
  for (const auto& worker : workers) access_->put(worker, id, content);
  count_sent(workers);
}

std::map<DataId, std::int64_t> ShardedContents::contents_of_participants() {
  const std::lock_guard lock(mutex_);
  std::map<DataId, std::int64_t> contents;
  if (running_)
    for (const auto& [data, participant] : running_->participants) contents[data] = participant.contents;
  return contents;
}

void ShardedContents::count_sent(std::span<const ShardWorker> workers) {
  const std::lock_guard lock(mutex_);
  CHECK(running_.has_value(), "contents are sent after they were announced");
  CHECK(std::ranges::all_of(workers, [&](const auto& w) { return running_->participants.contains(w.data); }),
        "contents go to workers that take part in the transaction");
  for (const auto& worker : workers) ++running_->participants.at(worker.data).contents;
  running_->prepared = false;
}

// Nothing of new participants is kept. They stay on the list, to be told of an abort.
void ShardedContents::undo(const std::map<DataId, std::int64_t>& before, ContentId first, std::int64_t count) noexcept {
  const ContentRange contents{first, ContentId{number(first) + count - 1}};
  std::vector<ShardWorker> workers;
  {
    const std::lock_guard lock(mutex_);
    if (!running_) return;  // everything was aborted
    for (auto& [data, participant] : running_->participants) {
      const auto had = before.find(data);
      participant.contents = had == before.end() ? 0 : had->second;
      when_there_is_memory([&, &told = participant.worker] { workers.push_back(told); });
    }
    running_->prepared = false;
  }
  // A worker that cannot be reached has lost its connection, and with it all that was not prepared. One that is told
  // but does not answer drops the contents before it does anything else.
  const CancellableScope scope(connection_);
  for (const auto& worker : workers) access_->drop(worker, {&contents, 1}, kAnyEpoch);
}

void ShardedContents::discard(const TileReference& reference) {
  log_.discard(reference);
  advance();
  unsettled_ = true;
}

void ShardedContents::discard_all(const std::string& table) {
  log_.discard_all(table);
  advance();
  unsettled_ = true;
}

void ShardedContents::prepare() {
  std::vector<ShardParticipant> participants;
  ShardTransaction id{};
  {
    const std::lock_guard lock(mutex_);
    if (!running_ || running_->prepared) return;
    id = running_->id;
    for (const auto& [data, participant] : running_->participants)
      if (participant.contents > 0) participants.push_back(participant);
  }
  const CancellableScope scope(connection_);
  access_->prepare(id, participants);
  const std::lock_guard lock(mutex_);
  CHECK(running_ && running_->id == id, "the transaction that workers have prepared is the one that is open");
  running_->prepared = true;
}

void ShardedContents::after_rollback() noexcept {
  advanced_to_.reset();
  std::optional<Running> aborted;
  {
    const std::lock_guard lock(mutex_);
    aborted = std::exchange(running_, std::nullopt);
  }
  if (!aborted) return;
  for (const auto& [data, participant] : aborted->participants) access_->abort(participant.worker, aborted->id);
}

void ShardedContents::after_commit() noexcept {
  advanced_to_.reset();
  const std::lock_guard lock(mutex_);
  if (!running_ || !running_->prepared) return;
  when_there_is_memory([this] { committed_.push_back(std::move(*running_)); });
  running_.reset();
  unsettled_ = true;
}

ShardedContents::Attempt::Attempt(ShardedContents& contents, std::int64_t count, std::span<const ShardWorker> workers)
    : contents_(contents),
      before_(contents.contents_of_participants()),
      first_(contents.announce(count, workers)),
      count_(count) {}

ShardedContents::Attempt::~Attempt() {
  if (!kept_) contents_.undo(before_, first_, count_);
}

void ShardedContents::settle() {
  if (connection_.is_active() || connection_.is_read_only()) return;
  const ImpatientScope scope(connection_);
  const CancellableScope cancellable(connection_);
  try {
    unsettled_ = !tell_and_drop();
  } catch (const std::exception&) {  // someone else writes, or the user cancelled; the log is unchanged
    unsettled_ = true;
  }
  if (unsettled_) access_->note_unsettled();
}

std::vector<UnsettledCommit> ShardedContents::commits_to_tell() {
  auto commits = log_.unsettled();
  const std::lock_guard lock(mutex_);
  for (const auto& committed : std::exchange(committed_, {})) {
    for (const auto& [data, participant] : committed.participants) {
      UnsettledCommit commit{committed.id, participant.worker};
      if (std::find(commits.begin(), commits.end(), commit) == commits.end()) commits.push_back(std::move(commit));
    }
  }
  return commits;
}

// Returns whether no garbage remains that must wait for readers. Garbage of an absent worker does not count: the
// coordinator settles again when the worker returns.
bool ShardedContents::tell_and_drop() {
  const auto epoch = log_.epoch();
  std::vector<UnsettledCommit> told;
  for (auto& commit : commits_to_tell()) {
    access_->advance(commit.worker, epoch);
    if (access_->commit(commit.worker, commit.transaction, log_.kept(commit.transaction)))
      told.push_back(std::move(commit));
  }
  std::vector<ShardGarbage> dropped;
  auto garbage = log_.garbage();
  const bool can_drop = garbage.empty() || connection_.all_read_the_last_commit();
  if (can_drop) {
    for (auto& of_worker : garbage) {
      access_->advance(of_worker.worker, epoch);
      if (access_->drop(of_worker.worker, of_worker.contents, of_worker.as_of)) dropped.push_back(std::move(of_worker));
    }
  }
  if (told.empty() && dropped.empty()) return can_drop;
  SqliteTransaction transaction(connection_);
  for (const auto& commit : told) log_.acknowledge(commit.transaction, commit.worker);
  for (const auto& of_worker : dropped) log_.forget(of_worker);
  transaction.commit();
  return can_drop;
}

}  // namespace eindb
