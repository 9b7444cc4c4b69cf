#include "cluster/worker_connection.hpp"

#include <algorithm>
#include <variant>
#include <vector>

#include "common/error.hpp"

namespace eindb {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

// Between two attempts to connect, in heartbeats.
constexpr int kLongestPause = 5;
constexpr milliseconds kShortestPause{10};

}  // namespace

std::string_view name_of(WorkerState state) {
  switch (state) {
    case WorkerState::Joining: return "joining";
    case WorkerState::Up: return "up";
    case WorkerState::Draining: return "draining";
    case WorkerState::Lost: break;
  }
  return "lost";
}

WorkerConnection::WorkerConnection(const ClusterContext& context, std::string address)
    : context_(context), address_(std::move(address)) {
  status_.address = address_;
}

void WorkerConnection::start(std::int64_t database, DataId known) {
  {
    const std::lock_guard lock(mutex_);
    status_.data = known;
  }
  database_ = database;
  thread_ = std::thread([this] { run(); });
}

WorkerConnection::~WorkerConnection() {
  close();
  wait_until_closed();
}

void WorkerConnection::close() noexcept {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    if (greeted_ != nullptr) greeted_->close();
    if (link_ != nullptr) link_->close(Error(ErrorKind::WorkerLost, "the coordinator ends"));
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

void WorkerConnection::wait_for_attempt(Clock::time_point at_most) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, at_most, [this] { return was_tried_; });
}

WorkerStatus WorkerConnection::status() const {
  const std::lock_guard lock(mutex_);
  auto status = status_;
  status.since = duration_cast<milliseconds>(Clock::now() - since_);
  if (link_ != nullptr) status.heartbeat_age = link_->silence();
  return status;
}

Error WorkerConnection::lost(const std::string& reason) const {
  return {ErrorKind::WorkerLost, "worker " + address_ + " is lost: " + reason, std::nullopt,
          "SHOW WORKERS tells how they are"};
}

// ---- The connection's thread ---------------------------------------------------------------------------------------

// The channel is closed with the connection while it is no link yet.
class WorkerConnection::Greeted {
 public:
  Greeted(WorkerConnection& connection, Channel& channel) : connection_(connection) {
    const std::lock_guard lock(connection_.mutex_);
    if (connection_.closing_) throw Error(ErrorKind::WorkerLost, "the coordinator ends");
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
      note_failure(error.what());
    }
    // Who was there for a while is looked for at once.
    wait = Clock::now() - began > longest ? kShortestPause : std::min(2 * wait, longest);
  } while (!pause(wait));
}

// True if the connection is to end.
bool WorkerConnection::pause(milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return closing_; });
}

void WorkerConnection::note_failure(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  was_tried_ = true;
  changed_.notify_all();
  if (status_.state != WorkerState::Lost) since_ = Clock::now();
  status_.state = WorkerState::Lost;
  // One line for each reason, and not for each attempt.
  if (std::exchange(status_.reason, reason) != reason)
    context_.log.write(NodeLog::Level::Warning, "worker not reached", address_, reason);
}

void WorkerConnection::connect_once() {
  auto channel = context_.connector.connect(address_, kMissedHeartbeats * context_.heartbeat);
  control::Welcome welcome;
  {
    const Greeted greeted(*this, *channel);
    welcome = greet(*channel);
    context_.admit(address_, welcome.data);
  }
  ControlLinkUser& user = *this;
  const auto link = std::make_shared<ControlLink>(std::move(channel), context_.heartbeat, user);
  join(welcome, link);
  context_.log.write(NodeLog::Level::Info, "worker joined", address_, "");
  catch_up_until_end();
}

// What the worker has missed cannot always be found out at once, as when somebody is writing.
void WorkerConnection::catch_up_until_end() {
  bool caught_up = false;
  std::unique_lock lock(mutex_);
  // Who is about to write, as it has waited for the worker, goes first: there is less to catch up with afterwards.
  changed_.wait_for(lock, context_.heartbeat, [this] { return link_ == nullptr; });
  while (link_ != nullptr) {
    if (!caught_up) {
      lock.unlock();
      caught_up = context_.catch_up(*this);
      lock.lock();
    }
    const auto ended = [this] { return link_ == nullptr; };
    if (caught_up) changed_.wait(lock, ended);
    else changed_.wait_for(lock, context_.heartbeat, ended);
  }
}

control::Welcome WorkerConnection::greet(Channel& channel) {
  channel.send(encode(control::Hello{kControlVersion, database_, context_.heartbeat}));
  return decode_welcome(receive_first(channel, kMissedHeartbeats * context_.heartbeat));
}

void WorkerConnection::join(const control::Welcome& welcome, const std::shared_ptr<ControlLink>& link) {
  const std::lock_guard lock(mutex_);
  if (closing_) throw Error(ErrorKind::WorkerLost, "the coordinator ends");
  status_.state = WorkerState::Up;
  status_.reason.clear();
  status_.data = welcome.data;
  status_.program = welcome.program;
  status_.threads = welcome.threads;
  status_.memory_limit = welcome.memory_limit;
  status_.load = {};
  since_ = Clock::now();
  was_tried_ = true;
  changed_.notify_all();
  data_address_ = welcome.data_address.empty() ? address_ : welcome.data_address;
  farewell_.clear();
  link_ = link;
  link_->start();
}

// ---- The link's threads --------------------------------------------------------------------------------------------

std::vector<std::byte> WorkerConnection::sign_of_life() { return encode(control::Heartbeat{}); }

void WorkerConnection::receive(std::span<const std::byte> message) {
  std::visit([this](auto&& what) { take(std::forward<decltype(what)>(what)); }, decode_to_coordinator(message));
}

void WorkerConnection::end(const Error& why) noexcept {
  const std::lock_guard lock(mutex_);
  const auto reason = farewell_.empty() ? why.message() : farewell_;
  if (!closing_) context_.log.write(NodeLog::Level::Warning, "worker lost", address_, reason);
  status_.state = WorkerState::Lost;
  status_.reason = reason;
  since_ = Clock::now();
  const auto error = lost(reason);
  for (const auto& [number, watched] : statements_) watched.watch->lost(watched.rank, error);
  statements_.clear();
  for (auto& [number, answer] : requests_)
    if (!answer) answer = RemoteError{error.kind(), error.message(), error.hint()};
  link_.reset();
  changed_.notify_all();
}

void WorkerConnection::take(const control::Welcome&) { throw Error(ErrorKind::Corrupt, "it says welcome again"); }

void WorkerConnection::take(const control::Refusal& refusal) { throw refusal.error.error(); }

void WorkerConnection::take(const control::Pulse& pulse) {
  const std::lock_guard lock(mutex_);
  status_.load = pulse.load;
  if (pulse.load.draining) note_draining();
}

// With the mutex.
void WorkerConnection::note_draining() {
  if (status_.state != WorkerState::Up) return;
  status_.state = WorkerState::Draining;
  since_ = Clock::now();
  changed_.notify_all();
}

void WorkerConnection::take(control::Done done) {
  const std::lock_guard lock(mutex_);
  const auto found = statements_.find(done.statement);
  if (found == statements_.end()) return;  // it was given up, and came to its end all the same
  const auto [rank, watch] = found->second;
  if (auto* report = std::get_if<RankReport>(&done.outcome)) return watch->ended(rank, std::move(*report));
  const auto& error = std::get<RemoteError>(done.outcome);
  watch->failed(rank, Error(error.kind, "worker " + address_ + ": " + error.message, std::nullopt, error.hint));
}

// It is let go when no statement needs it: forget().
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
  const auto found = requests_.find(reply.request);
  if (found == requests_.end()) return;  // nobody waits for it any more
  found->second = std::move(reply.answer);
  changed_.notify_all();
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
  changed_.wait(lock, [&] { return place.has_value(); });
  if (const auto* error = std::get_if<RemoteError>(&*place)) throw error->error();
  return *place;
}

void WorkerConnection::forget_request(std::uint64_t request) noexcept {
  const std::lock_guard lock(mutex_);
  requests_.erase(request);
}

void WorkerConnection::begin(std::uint64_t statement, Rank rank, StatementWatch& watch) {
  const std::lock_guard lock(mutex_);
  if (link_ == nullptr) throw lost(status_.reason.empty() ? "it has not joined yet" : status_.reason);
  if (!farewell_.empty()) throw lost(farewell_);
  statements_.emplace(statement, Watched{rank, &watch});
}

void WorkerConnection::forget(std::uint64_t statement) noexcept {
  std::unique_lock lock(mutex_);
  statements_.erase(statement);
  if (!statements_.empty() || farewell_.empty() || link_ == nullptr) return;
  const auto link = link_;
  const Error why(ErrorKind::WorkerLost, farewell_);
  lock.unlock();
  link->close(why);
}

}  // namespace eindb
