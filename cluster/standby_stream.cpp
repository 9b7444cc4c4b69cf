#include "cluster/standby_stream.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/memory_wait.hpp"

namespace eindb {
namespace {

// The bytes of a message, unless one frame has more.
constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;
// With fewer bytes left, commits wait for the rest.
constexpr std::size_t kNearlyThere = std::size_t{256} << 10U;
// The pause between looks for what other processes have committed, and between attempts to catch up.
constexpr std::chrono::milliseconds kPauseOfLooks{1000};
constexpr std::chrono::milliseconds kPauseOfAttempts{200};

std::int64_t offset_of(const LogChain& chain, std::uint32_t frame) {
  return static_cast<std::int64_t>(kLogHeaderBytes) +
         static_cast<std::int64_t>(frame) * static_cast<std::int64_t>(chain.frame_bytes());
}

[[noreturn]] void refuse_gap() {
  throw Error(ErrorKind::Conflict, "the log has begun anew, and what it had before is not all at the standby");
}

// A transaction that only reads, so that SQLite keeps what it sees.
class ReadTransaction {
 public:
  explicit ReadTransaction(SqliteConnection& source) : source_(source) {
    source_.execute("BEGIN");
    source_.query_integer("SELECT COUNT(*) FROM main.sqlite_schema");
  }
  ~ReadTransaction() {
    try {
      source_.execute("ROLLBACK");
    } catch (const std::exception&) {  // it has ended by itself
    }
  }
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;

 private:
  SqliteConnection& source_;
};

}  // namespace

StandbyStream::StandbyStream(std::string database, WorkerConnection& worker, NodeLog& log)
    : database_(std::move(database)), worker_(worker), log_(log), thread_([this] { run(); }) {}

StandbyStream::~StandbyStream() {
  ending_.request();
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

StandbyState StandbyStream::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::string StandbyStream::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void StandbyStream::wait_for_attempt(std::chrono::steady_clock::time_point at_most) {
  if (!worker_.is_up()) return;
  std::unique_lock lock(mutex_);
  if (was_awaited_) return;
  changed_.wait_until(lock, at_most, [this] { return ends_ || state_ == StandbyState::Current || !failure_.empty(); });
  was_awaited_ = true;
}

void StandbyStream::run() noexcept {
  const CancellationScope scope(ending_);
  std::unique_lock lock(mutex_);
  while (!ends_) {
    const bool is_current = state_ == StandbyState::Current;
    lock.unlock();
    if (is_current) {
      follow();
    } else if (worker_.is_up()) {
      try {
        catch_up();
      } catch (const std::exception& error) {
        const std::lock_guard failing(mutex_);
        fall_behind(error.what());
      }
    }
    lock.lock();
    changed_.wait_for(lock, state_ == StandbyState::Current ? kPauseOfLooks : kPauseOfAttempts,
                      [this] { return ends_; });
  }
}

// The transaction has been committed, so that its statement's cancellation does not count any more.
void StandbyStream::follow() noexcept {
  const CancellationScope scope(ending_);
  const std::lock_guard lock(mutex_);
  if (state_ != StandbyState::Current || ends_) return;
  try {
    send_rest();
  } catch (const std::exception& error) {
    fall_behind(error.what());
  }
}

// With the mutex. A failure that goes on is logged once.
void StandbyStream::fall_behind(std::string_view why) noexcept {
  if (ends_) return;
  if (state_ == StandbyState::Current) state_ = StandbyState::Behind;
  when_there_is_memory([&] {
    if (std::exchange(failure_, std::string(why)) == why) return;
    log_.write(NodeLog::Level::Warning, "standby behind", worker_.address(), why);
  });
  changed_.notify_all();
}

void StandbyStream::catch_up() {
  if (source_ == nullptr) {
    source_ = std::make_unique<SqliteConnection>(database_, SqliteConnection::Access::ReadWrite);
    source_->query_integer("SELECT COUNT(*) FROM main.sqlite_schema");  // opens the log
  }
  const auto there = worker_.ask<control::StandbyEnd>([](auto request) { return control::AskStandby{request}; }).place;
  if (!there || !resume(*there)) send_file();
  while (send_rest() > kNearlyThere) {
  }
  const std::lock_guard lock(mutex_);
  send_rest();
  state_ = StandbyState::Current;
  failure_.clear();
  changed_.notify_all();
  log_.write(NodeLog::Level::Info, "standby current", worker_.address(), "");
}

// Whether the copy ends at a place of the log as it is.
bool StandbyStream::resume(const LogPlace& there) {
  const auto end = log_end(*source_);
  if (there.generation == 0 || there.generation != end.generation || there.frames > end.frames) return false;
  const auto header = read_log(*source_, 0, kLogHeaderBytes);
  if (header.size() != kLogHeaderBytes) return false;
  LogChain chain(header);
  if (chain.place().generation != there.generation) return false;
  auto checksum = chain.place().checksum;
  if (there.frames > 0) {
    const auto last = read_log(*source_, offset_of(chain, there.frames - 1), kLogFrameHeaderBytes);
    if (!chain.is_of_log(last)) return false;
    checksum = LogChain::checksum_in(last);
  }
  const auto unsent = count_transactions(chain, there.frames, end.frames);
  if (checksum != there.checksum || !unsent) return false;
  chain.jump(there);
  chain_ = std::move(chain);
  there_ = there;
  seen_ = {.generation = end.generation, .frames = there.frames, .transactions = end.transactions - *unsent};
  return true;
}

// The transactions that end in these frames; nullopt if they are not of this log any more.
std::optional<std::uint32_t> StandbyStream::count_transactions(const LogChain& chain, std::uint32_t from,
                                                               std::uint32_t to) {
  std::uint32_t count = 0;
  for (auto frame = from; frame < to; ++frame) {
    const auto header = read_log(*source_, offset_of(chain, frame), kLogFrameHeaderBytes);
    if (!chain.is_of_log(header)) return std::nullopt;
    if (LogChain::ends_transaction(header)) ++count;
  }
  return count;
}

// SQLite keeps the pages that the reading transaction sees: the file may be written meanwhile with pages that are in
// the log alone, which the copy gets, too. Where the log was moved into the file before, another one may begin
// meanwhile; its pages stay out of the file.
void StandbyStream::send_file() {
  {
    const std::lock_guard lock(mutex_);
    state_ = StandbyState::Copying;
  }
  const ReadTransaction reading(*source_);
  worker_.ask<control::Acknowledged>([](auto request) { return control::BeginStandby{request}; });
  for (std::int64_t from = 0;;) {
    poll_cancellation();
    auto bytes = read_database_file(*source_, from, kPieceBytes);
    if (bytes.empty()) break;
    const auto size = static_cast<std::int64_t>(bytes.size());
    worker_.ask<control::Acknowledged>([&](auto request) {
      return control::StandbyBytes{request, from, std::move(bytes)};
    });
    from += size;
  }
  const auto end = log_end(*source_);
  chain_.reset();
  there_ = {};
  seen_ = {.generation = end.generation, .frames = 0, .transactions = 0};
  send_log(end, true);
  worker_.ask<control::Acknowledged>([](auto request) { return control::FinishStandby{request}; });
  seen_ = end;
}

// Sends what the standby lacks, and returns how many bytes that was.
std::size_t StandbyStream::send_rest() {
  const auto end = log_end(*source_);
  if (end == seen_) return 0;
  if (end.generation != seen_.generation) {
    // Between the end of the former log and the beginning of this one nothing may be missing.
    chain_.reset();
    const auto before = seen_.transactions;
    seen_ = {.generation = end.generation, .frames = 0, .transactions = before};
    if (end.frames == 0 && end.transactions != before) refuse_gap();
    if (end.frames > 0) {
      begin_chain();
      const auto anew = count_transactions(*chain_, 0, end.frames);
      if (!anew || before + *anew != end.transactions) refuse_gap();
    }
  }
  if (end.frames < seen_.frames) refuse_gap();
  const auto bytes = send_log(end, false);
  if (seen_ != end) refuse_gap();
  return bytes;
}

void StandbyStream::begin_chain() {
  const auto header = read_log(*source_, 0, kLogHeaderBytes);
  if (header.size() == kLogHeaderBytes) chain_.emplace(header);
  if (!chain_ || chain_->place().generation != seen_.generation) refuse_gap();
}

// The frames from seen_ to the end, which are checked as the standby will check them.
std::size_t StandbyStream::send_log(const LogEnd& end, bool of_new_copy) {
  CHECK(end.generation == seen_.generation, "frames of one log are sent");
  if (seen_.frames == end.frames) return 0;
  if (!chain_) begin_chain();
  const auto frame_bytes = chain_->frame_bytes();
  const auto most = static_cast<std::uint32_t>(std::max<std::size_t>(1, kPieceBytes / frame_bytes));
  std::size_t sent = 0;
  while (seen_.frames < end.frames) {
    const auto count = std::min(most, end.frames - seen_.frames);
    auto frames = read_log(*source_, offset_of(*chain_, seen_.frames), count * frame_bytes);
    auto chain = *chain_;
    std::uint32_t transactions = 0;
    for (std::size_t at = 0; at + frame_bytes <= frames.size(); at += frame_bytes) {
      const auto frame = std::span<const std::byte>(frames).subspan(at, frame_bytes);
      if (!chain.take(frame)) break;
      if (LogChain::ends_transaction(frame)) ++transactions;
    }
    if (chain.place().frames != seen_.frames + count) refuse_gap();
    sent += frames.size();
    const std::vector<std::byte> header(chain.header().begin(), chain.header().end());
    worker_.ask<control::Acknowledged>([&](auto request) {
      return control::StandbyFrames{request, of_new_copy, there_, header, std::move(frames)};
    });
    chain_ = std::move(chain);
    there_ = chain_->place();
    seen_.frames += count;
    seen_.transactions += transactions;
  }
  return sent;
}

}  // namespace eindb
