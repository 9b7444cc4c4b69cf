#include "cluster/worker_connection.hpp"

#include <algorithm>
#include <numeric>
#include <variant>
#include <vector>

#include "cluster/cancellation_poll.hpp"
#include "cluster/memory_shares.hpp"
#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "common/memory_wait.hpp"

namespace eindb {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

// The longest pause between attempts to connect, in heartbeats.
constexpr int kLongestPause = 5;
constexpr milliseconds kShortestPause{10};
constexpr const char* kFull = "its disk is full: it stores no tiles, those that are there can be read and dropped";

}  // namespace

WorkerConnection::WorkerConnection(const ClusterContext& context, std::string address)
    : context_(context), address_(std::move(address)) {
  status_.address = address_;
}

void WorkerConnection::start(std::int64_t database, std::vector<std::int64_t> former, DataId known, bool transient) {
  CHECK(!thread_.joinable(), "a connection starts once");
  {
    const std::lock_guard lock(mutex_);
    status_.data = known;
  }
  database_ = database;
  former_ = std::move(former);
  transient_ = transient;
  thread_ = std::thread([this] { run(); });
}

WorkerConnection::~WorkerConnection() {
  close();
  wait_until_closed();
}

void WorkerConnection::close(std::string_view reason) noexcept {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    status_.state = WorkerState::Lost;
    when_there_is_memory([&] { status_.reason = reason; });
    was_tried_ = true;
    if (greeted_ != nullptr) greeted_->close();
    if (link_ != nullptr)
      link_->close(when_there_is_memory([&] { return Error(ErrorKind::WorkerLost, std::string(reason)); }));
  }
  connecting_.request();
  changed_.notify_all();
}

void WorkerConnection::wait_until_closed() noexcept {
  if (thread_.joinable()) thread_.join();
}

DataId WorkerConnection::data() const {
  const std::lock_guard lock(mutex_);
  return status_.data;
}

std::string WorkerConnection::data_address() const {
  const std::lock_guard lock(mutex_);
  return data_address_;
}

std::string WorkerConnection::memory_pool() const {
  const std::lock_guard lock(mutex_);
  return memory_pool_;
}

void WorkerConnection::share_memory_among(std::uint32_t workers) {
  try {
    send(control::ShareMemory{workers});
  } catch (const Error&) {  // the worker is told when it joins again
    return;
  }
  const std::lock_guard lock(mutex_);
  status_.memory_limit = MemoryShares::part_of(whole_memory_, workers);
}

void WorkerConnection::wait_for_attempt(Clock::time_point at_most) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, at_most, [this] { return was_tried_; });
}

WorkerStatus WorkerConnection::status() const {
  const std::lock_guard lock(mutex_);
  auto status = status_;
  status.since = duration_cast<milliseconds>(Clock::now() - since_);
  if (link_ != nullptr) status.heartbeat_age = link_->silence();
  if (status.is_full() && status.reason.empty()) status.reason = kFull;
  return status;
}

bool WorkerConnection::is_up() const noexcept {
  const std::lock_guard lock(mutex_);
  return status_.state == WorkerState::Up;
}

// Call with mutex_ held.
Error WorkerConnection::unwell_error() const {
  return {ErrorKind::WorkerLost, "worker " + address_ + " is unwell: " + unwell_, std::nullopt,
          "see to the worker's disk; if that is only slow, start the worker with a longer --disk-timeout"};
}

Error WorkerConnection::lost(const std::string& reason) const {
  return {ErrorKind::WorkerLost, "worker " + address_ + " is lost: " + reason, std::nullopt,
          "SHOW WORKERS tells how they are"};
}

// ---- The connection's thread ---------------------------------------------------------------------------------------

// Allows the channel to be closed with the connection before it is a link.
class WorkerConnection::Greeted {
 public:
  Greeted(WorkerConnection& connection, Channel& channel) : connection_(connection) {
    const std::lock_guard lock(connection_.mutex_);
    if (connection_.closing_) throw Error(ErrorKind::WorkerLost, "the coordinator ends");
    CHECK(connection_.greeted_ == nullptr, "one channel at a time becomes a link");
    connection_.greeted_ = &channel;
  }
  ~Greeted() {
    const std::lock_guard lock(connection_.mutex_);
    connection_.greeted_ = nullptr;
  }
  Greeted(const Greeted&) = delete;
  Greeted& operator=(const Greeted&) = delete;

 private:
  WorkerConnection& connection_;
};

void WorkerConnection::run() noexcept {
  const CancellationScope scope(connecting_);
  const auto longest = std::max(kShortestPause, kLongestPause * context_.heartbeat);
  auto wait = kShortestPause;
  do {
    const auto began = Clock::now();
    try {
      connect_once();
    } catch (const std::exception& error) {
      when_there_is_memory([&] { note_failure(error.what()); });
    }
    // After a longer connection, the next attempt follows at once.
    wait = Clock::now() - began > longest ? kShortestPause : std::min(2 * wait, longest);
  } while (!pause(wait));
}

// Returns whether the connection is to end.
bool WorkerConnection::pause(milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return closing_; });
}

void WorkerConnection::note_failure(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  was_tried_ = true;
  changed_.notify_all();
  if (closing_) return;  // close() has set the reason
  if (status_.state != WorkerState::Lost) since_ = Clock::now();
  status_.state = WorkerState::Lost;
  // Logs each reason once, not each attempt.
  if (std::exchange(status_.reason, reason) != reason)
    context_.log.write(NodeLog::Level::Warning, "worker not reached", address_, reason);
}

void WorkerConnection::connect_once() {
  auto channel = context_.connector.connect(address_, kMissedHeartbeats * context_.heartbeat);
  CHECK(channel != nullptr, "a connector gives a channel");
  control::Welcome welcome;
  {
    const Greeted greeted(*this, *channel);
    welcome = greet(*channel);
    context_.admit(address_, welcome);
  }
  ControlLinkUser& user = *this;
  const auto link = std::make_shared<ControlLink>(std::move(channel), context_.heartbeat, user);
  join(welcome, link);
  try {
    context_.log.write(NodeLog::Level::Info, "worker joined", address_, "");
    context_.joined(*this);
    catch_up_until_end();
  } catch (...) {
    // Without the mutex, since the link's threads take it when they end.
    const auto left = take_link();
    throw;
  }
}

std::shared_ptr<ControlLink> WorkerConnection::take_link() {
  const std::lock_guard lock(mutex_);
  return std::exchange(link_, nullptr);
}

// The missed transactions cannot always be determined at once, for example while another connection writes.
void WorkerConnection::catch_up_until_end() {
  const auto ended = [this] { return link_ == nullptr; };
  std::unique_lock lock(mutex_);
  // A transaction that has waited for this worker commits first, which leaves less to catch up with.
  changed_.wait_for(lock, context_.heartbeat, ended);
  while (link_ != nullptr) {
    if (has_missed_ && unwell_.empty()) {
      has_missed_ = false;
      lock.unlock();
      const bool caught_up = context_.catch_up(*this);
      lock.lock();
      has_missed_ |= !caught_up;
    }
    if (has_missed_) changed_.wait_for(lock, context_.heartbeat, ended);
    else changed_.wait(lock, [&] { return ended() || has_missed_; });
  }
}

void WorkerConnection::note_missed() noexcept {
  const std::lock_guard lock(mutex_);
  has_missed_ = true;
  changed_.notify_all();
}

control::Welcome WorkerConnection::greet(Channel& channel) {
  channel.send(encode(control::Hello{kControlVersion, database_, context_.heartbeat, former_, transient_}));
  return decode_welcome(receive_first(channel, kMissedHeartbeats * context_.heartbeat));
}

void WorkerConnection::join(const control::Welcome& welcome, const std::shared_ptr<ControlLink>& link) {
  const std::lock_guard lock(mutex_);
  if (closing_) throw Error(ErrorKind::WorkerLost, "the coordinator ends");
  status_.state = WorkerState::Up;
  status_.reason.clear();
  status_.data = welcome.data;
  context_.damaged.forget(welcome.data);
  status_.program = welcome.program;
  status_.threads = welcome.threads;
  status_.memory_limit = welcome.memory_limit;
  whole_memory_ = welcome.memory_limit;
  memory_pool_ = welcome.memory_pool;
  status_.epoch = welcome.epoch;
  status_.load = {};
  status_.load.bytes_free = welcome.bytes_free;
  note_room(welcome.bytes_free);
  since_ = Clock::now();
  was_tried_ = true;
  changed_.notify_all();
  data_address_ = welcome.data_address.empty() ? address_ : welcome.data_address;
  farewell_.clear();
  unwell_.clear();
  has_missed_ = true;
  answered_ = Clock::now();
  link->start();  // its threads wait for the mutex
  link_ = link;
}

// ---- The link's threads --------------------------------------------------------------------------------------------

std::vector<std::byte> WorkerConnection::sign_of_life() { return encode(control::Heartbeat{}); }

void WorkerConnection::receive(std::span<const std::byte> message) {
  std::visit([this](auto&& what) { take(std::forward<decltype(what)>(what)); }, decode_to_coordinator(message));
}

void WorkerConnection::end(const Error& why) noexcept {
  const std::lock_guard lock(mutex_);
  const auto& reason = farewell_.empty() ? why.message() : farewell_;
  if (!closing_) context_.log.write(NodeLog::Level::Warning, "worker lost", address_, reason);
  status_.state = WorkerState::Lost;
  since_ = Clock::now();
  when_there_is_memory([&] {
    status_.reason = reason;
    fail_all(lost(reason));
  });
  puts_.clear();
  waiting_bytes_ = 0;
  link_.reset();
  changed_.notify_all();
}

// Call with mutex_ held. Fails the statements and requests that wait for the worker.
void WorkerConnection::fail_all(const Error& error) {
  for (const auto& [number, watched] : statements_) watched.watch->lost(watched.rank, error);
  statements_.clear();
  for (auto& [number, answer] : requests_)
    if (!answer) answer = RemoteError{error.kind(), error.message(), error.hint()};
}

void WorkerConnection::take(const control::Welcome&) { throw Error(ErrorKind::Corrupt, "it says welcome again"); }

void WorkerConnection::take(const control::Refusal& refusal) { throw refusal.error.error(); }

void WorkerConnection::take(const control::Pulse& pulse) {
  const std::lock_guard lock(mutex_);
  status_.load = pulse.load;
  note_disk(pulse.load.disk_silence);
  note_room(pulse.load.bytes_free);
  if (pulse.load.draining) note_draining();
  if (!pulse.load.coordinator_left) return;
  has_missed_ = true;
  changed_.notify_all();
}

// Call with mutex_ held.
void WorkerConnection::note_disk(milliseconds silence) {
  const bool was_unwell = !unwell_.empty();
  const bool is_unwell = silence.count() > 0;
  unwell_ = is_unwell ? "its disk has not answered for " + in_seconds(silence) : "";
  if (is_unwell) status_.reason = unwell_;
  if (is_unwell == was_unwell) return;
  context_.log.write(is_unwell ? NodeLog::Level::Warning : NodeLog::Level::Info,
                     is_unwell ? "worker unwell" : "worker well again", address_, unwell_);
  if (is_unwell) fail_all(unwell_error());
  else status_.reason.clear();
  has_missed_ = true;
  if (status_.state == WorkerState::Up || status_.state == WorkerState::Unwell) {
    status_.state = is_unwell ? WorkerState::Unwell : WorkerState::Up;
    since_ = Clock::now();
  }
  changed_.notify_all();
}

// Call with mutex_ held.
void WorkerConnection::note_room(std::int64_t bytes_free) {
  const bool is_full = bytes_free == 0;
  if (std::exchange(is_full_, is_full) == is_full) return;
  context_.log.write(is_full ? NodeLog::Level::Warning : NodeLog::Level::Info,
                     is_full ? "worker full" : "worker has room", address_, is_full ? kFull : "");
}

// Call with mutex_ held.
void WorkerConnection::note_draining() {
  if (status_.state != WorkerState::Up && status_.state != WorkerState::Unwell) return;
  status_.state = WorkerState::Draining;
  since_ = Clock::now();
  changed_.notify_all();
}

void WorkerConnection::take(control::Done done) {
  const std::lock_guard lock(mutex_);
  for (const auto content : done.damaged)
    if (context_.damaged.note(status_.data, content))
      context_.log.write(NodeLog::Level::Warning, "copy damaged", address_,
                         "content " + std::to_string(number(content)));
  const auto found = statements_.find(done.statement);
  if (found == statements_.end()) return;  // abandoned, but it ended nevertheless
  const auto [rank, watch] = found->second;
  if (auto* report = std::get_if<RankReport>(&done.outcome)) return watch->ended(rank, std::move(*report));
  const auto& error = std::get<RemoteError>(done.outcome);
  watch->failed(rank, Error(error.kind, "worker " + address_ + ": " + error.message, std::nullopt, error.hint),
                done.unreachable);
}

// forget() closes the channel once no statement needs the worker.
void WorkerConnection::take(const control::Leave& leave) {
  const std::lock_guard lock(mutex_);
  farewell_ = "it left: " + leave.reason;
  note_draining();
  if (statements_.empty()) throw Error(ErrorKind::WorkerLost, farewell_);
}

void WorkerConnection::take(control::Reply reply) {
  const std::lock_guard lock(mutex_);
  if (reply.request == 0 || reply.request > last_request_)
    throw Error(ErrorKind::Corrupt, "it answers what nobody has asked");
  answered_ = Clock::now();
  if (forget_put(reply.request)) return;
  const auto found = requests_.find(reply.request);
  if (found == requests_.end()) return;  // nobody waits for it any more
  if (auto* error = std::get_if<RemoteError>(&reply.answer))
    error->message = "worker " + address_ + ": " + error->message;
  found->second = std::move(reply.answer);
  changed_.notify_all();
}

void WorkerConnection::take(const control::Damaged& damaged) {
  const std::lock_guard lock(mutex_);
  for (const auto content : damaged.contents)
    if (context_.damaged.note_unread(status_.data, content))
      context_.log.write(NodeLog::Level::Warning, "copy damaged", address_,
                         "content " + std::to_string(number(content)) + ", which nobody has read");
}

// ---- Threads of sessions -------------------------------------------------------------------------------------------

std::shared_ptr<ControlLink> WorkerConnection::link() const {
  const std::lock_guard lock(mutex_);
  if (link_ == nullptr) throw lost(status_.reason.empty() ? "it has not joined yet" : status_.reason);
  return link_;
}

void WorkerConnection::send(const ToWorker& message) {
  const auto link = this->link();
  try {
    link->send(encode(message));
  } catch (const Error& error) {
    throw error.kind() == ErrorKind::WorkerLost ? lost(error.message()) : error;
  }
}

WorkerConnection::Request WorkerConnection::request(const std::function<ToWorker(std::uint64_t)>& make) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = ++last_request_;
    requests_.emplace(number, std::nullopt);
  }
  Request request(*this, number);
  send(make(number));
  return request;
}

WorkerConnection::AnyAnswer WorkerConnection::await(std::uint64_t request) {
  std::unique_lock lock(mutex_);
  const auto& place = requests_.at(request);
  for (const auto since = Clock::now(); !place;) wait_for_answer(lock, since);
  if (const auto* error = std::get_if<RemoteError>(&*place)) throw error->error();
  return *place;
}

// Waits for a change, but only briefly. Throws if waiting since `since` has become pointless.
void WorkerConnection::wait_for_answer(std::unique_lock<std::mutex>& lock, Clock::time_point since) {
  CHECK(lock.owns_lock() && lock.mutex() == &mutex_, "who waits for an answer has the mutex");
  check_is_well();
  const auto silence = Clock::now() - std::max(since, answered_);
  if (silence > kMostSilence)
    throw lost("it has answered nothing for " + in_seconds(duration_cast<milliseconds>(silence)));
  changed_.wait_for(lock, kCancellationPoll);
  poll_cancellation();
}

// Call with mutex_ held.
void WorkerConnection::check_is_well() const {
  if (!unwell_.empty()) throw unwell_error();
}

void WorkerConnection::put(ShardTransaction transaction, std::vector<control::NewContent> contents) {
  control::Put put{0, transaction, std::move(contents)};
  const auto bytes = bytes_of(put);
  {
    std::unique_lock lock(mutex_);
    const auto since = Clock::now();
    while (waiting_bytes_ > 0 && waiting_bytes_ + bytes > kMostWaitingBytes) wait_for_answer(lock, since);
    check_is_well();
    if (link_ == nullptr) throw lost(status_.reason);
    put.request = ++last_request_;
    puts_.emplace(put.request, bytes);
    waiting_bytes_ += bytes;
    DCHECK(counts_waiting_bytes(), "the bytes that wait are those of the contents that do");
  }
  try {
    send(put);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    forget_put(put.request);
    throw;
  }
}

// With the mutex.
bool WorkerConnection::counts_waiting_bytes() const {
  return waiting_bytes_ == std::accumulate(puts_.begin(), puts_.end(), std::size_t{0},
                                           [](std::size_t sum, const auto& put) { return sum + put.second; });
}

// With the mutex. Whether it was one.
bool WorkerConnection::forget_put(std::uint64_t request) {
  const auto put = puts_.find(request);
  if (put == puts_.end()) return false;
  waiting_bytes_ -= put->second;
  puts_.erase(put);
  changed_.notify_all();
  return true;
}

void WorkerConnection::forget_request(std::uint64_t request) noexcept {
  const std::lock_guard lock(mutex_);
  requests_.erase(request);
}

void WorkerConnection::begin(std::uint64_t statement, Rank rank, StatementWatch& watch) {
  const std::lock_guard lock(mutex_);
  if (link_ == nullptr) throw lost(status_.reason.empty() ? "it has not joined yet" : status_.reason);
  if (!farewell_.empty()) throw lost(farewell_);
  check_is_well();
  const bool is_new = statements_.emplace(statement, Watched{rank, &watch}).second;
  CHECK(is_new, "a worker is one rank of a statement");
}

void WorkerConnection::forget(std::uint64_t statement) noexcept {
  std::unique_lock lock(mutex_);
  statements_.erase(statement);
  if (!statements_.empty() || farewell_.empty() || link_ == nullptr) return;
  const auto link = link_;
  const auto why = when_there_is_memory([this] { return Error(ErrorKind::WorkerLost, farewell_); });
  lock.unlock();
  link->close(why);
}

}  // namespace eindb
