#include "cluster/coordinator_session.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "common/error.hpp"

namespace eindb {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatienceForHello = std::chrono::seconds(10);
constexpr milliseconds kShortestHeartbeat{1};
constexpr milliseconds kLongestHeartbeat = std::chrono::hours(1);
// Contents that wait to be stored; who sends more waits, as the channel is not read meanwhile.
constexpr std::size_t kMostWaitingBytes = std::size_t{64} << 20U;

std::vector<OutgoingContent> outgoing(const std::vector<control::NewContent>& contents) {
  std::vector<OutgoingContent> out;
  for (const auto& content : contents) out.push_back({content.content, content.tensor, content.bytes, {}});
  return out;
}

std::optional<std::vector<std::byte>> bytes_of(const std::unique_ptr<ByteSource>& content) {
  if (content == nullptr) return std::nullopt;
  std::vector<std::byte> bytes(content->size());
  content->read(0, bytes);
  return bytes;
}

std::size_t bytes_of(const control::Put& put) {
  std::size_t bytes = 0;
  for (const auto& content : put.contents) bytes += content.bytes.size();
  return bytes;
}

}  // namespace

CoordinatorSession::CoordinatorSession(WorkerNode& node, std::unique_ptr<Channel> channel)
    : node_(node), peer_(channel->peer()), greeted_(std::move(channel)), channel_(greeted_.get()), thread_([this] {
        run();
      }) {}

CoordinatorSession::~CoordinatorSession() {
  close_channel();
  thread_.join();
}

void CoordinatorSession::announce_leave(const std::string& reason) noexcept {
  std::shared_ptr<ControlLink> link;
  {
    const std::lock_guard lock(mutex_);
    link = link_;
  }
  if (link == nullptr) return close_channel();
  try {
    link->send(encode(control::Leave{reason}));
  } catch (const std::exception&) {  // gone, which is what was wanted
  }
}

// What was sent last may be lost where both sides close, and what the worker's part of a statement has sent may still
// be on its way to others when that part has ended: the coordinator knows when nobody waits for anything.
void CoordinatorSession::wait_until_link_ended() noexcept {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return link_ == nullptr || link_ended_; });
}

// ---- The session's thread ------------------------------------------------------------------------------------------

void CoordinatorSession::run() noexcept {
  try {
    const auto hello = greet();
    log(NodeLog::Level::Info, "coordinator joined", "");
    ControlLinkUser& user = *this;
    {
      const std::lock_guard lock(mutex_);
      link_ = std::make_shared<ControlLink>(std::move(greeted_), hello.heartbeat, user);
    }
    link_->start();
    serve_until_end();
    forget_unprepared();
  } catch (const std::exception& error) {
    log(NodeLog::Level::Warning, "coordinator refused", error.what());
  }
  std::shared_ptr<ControlLink> ended;
  {
    const std::lock_guard lock(mutex_);
    channel_ = nullptr;
    ended = std::move(link_);
  }
  ended.reset();
  greeted_.reset();
  has_ended_ = true;
}

control::Hello CoordinatorSession::greet() {
  try {
    const auto hello = decode_hello(receive_first(*greeted_, kPatienceForHello));
    if (hello.heartbeat < kShortestHeartbeat || hello.heartbeat > kLongestHeartbeat)
      throw Error(ErrorKind::Value, "a heartbeat of " + std::to_string(hello.heartbeat.count()) + " ms makes no sense",
                  std::nullopt, "use one between 1ms and 1h");
    if (node_.is_draining()) throw Error(ErrorKind::Busy, "it is being drained, and about to leave");
    if (hello.database != 0) node_.shards.claim(hello.database);
    const auto& options = node_.options;
    greeted_->send(encode(control::Welcome{kControlVersion, options.program, node_.shards.id(),
                                           node_.exchanges.address(), options.threads, options.memory_limit}));
    return hello;
  } catch (const Error& error) {
    // To whom speaks something else altogether nothing is said.
    if (error.kind() != ErrorKind::Corrupt && error.kind() != ErrorKind::WorkerLost)
      greeted_->send(encode(control::Refusal{RemoteError::of(std::current_exception())}));
    throw;
  }
}

void CoordinatorSession::serve_until_end() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !tasks_.empty() || (link_ended_ && statements_.empty()); });
    if (tasks_.empty()) return;
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

// Nobody will ask for these to be committed: the coordinator's transaction has failed with the channel.
void CoordinatorSession::forget_unprepared() noexcept {
  try {
    node_.shards.abort_unprepared(std::vector(unprepared_.begin(), unprepared_.end()));
    node_.note_change();
  } catch (const std::exception& error) {  // gone when the file is opened again
    log(NodeLog::Level::Warning, "contents not removed", error.what());
  }
}

void CoordinatorSession::close_channel() noexcept {
  const std::lock_guard lock(mutex_);
  if (channel_ != nullptr) channel_->close();
}

void CoordinatorSession::post(Task task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
}

void CoordinatorSession::send(const ToCoordinator& message) noexcept {
  try {
    link_->send(encode(message));
  } catch (const std::exception&) {
    // The link has ended, and so does the session: the coordinator takes everything for failed.
  }
}

void CoordinatorSession::log(NodeLog::Level level, std::string_view event, std::string_view detail) noexcept {
  node_.log.write(level, event, peer_, detail);
}

// ---- The link's threads --------------------------------------------------------------------------------------------

std::vector<std::byte> CoordinatorSession::sign_of_life() {
  // Counting may have to wait for the disk: this thread does not.
  if (node_.has_changed()) post([this] { count_contents(); });
  return encode(control::Pulse{node_.load()});
}

void CoordinatorSession::count_contents() noexcept {
  try {
    node_.count_contents();
  } catch (const std::exception& error) {
    log(NodeLog::Level::Warning, "contents not counted", error.what());
  }
}

void CoordinatorSession::receive(std::span<const std::byte> message) {
  std::visit([this](auto&& what) { take(std::forward<decltype(what)>(what)); }, decode_to_worker(message));
}

void CoordinatorSession::end(const Error& why) noexcept {
  log(NodeLog::Level::Info, "coordinator left", why.message());
  {
    const std::lock_guard lock(mutex_);
    link_ended_ = true;
    const Error lost(ErrorKind::WorkerLost, "the coordinator was lost: " + why.message());
    for (const auto& [number, statement] : statements_) statement->stop(lost);
  }
  changed_.notify_all();
}

void CoordinatorSession::take(const control::Hello&) {
  throw Error(ErrorKind::Corrupt, "the coordinator says hello again");
}

void CoordinatorSession::take(control::Run run) {
  const auto number = run.statement;
  for (const auto& result : run.results)
    if (result) post([this, transaction = result->transaction] { unprepared_.insert(transaction); });
  const auto on_done = [this, number](const control::Done& done) {
    send(done);
    post([this, number] {
      std::unique_ptr<StatementRun> ended;
      const std::lock_guard lock(mutex_);
      ended = std::move(statements_.extract(number).mapped());
    });
  };
  const std::lock_guard lock(mutex_);
  if (statements_.contains(number)) throw Error(ErrorKind::Corrupt, "the coordinator runs a statement twice");
  try {
    statements_.emplace(number, std::make_unique<StatementRun>(node_, std::move(run), on_done));
  } catch (const Error&) {  // it is being drained: the coordinator has to know when it plans again
    send(control::Pulse{node_.load()});
    send(control::Done{number, RemoteError::of(std::current_exception())});
  }
}

void CoordinatorSession::take(const control::Stop& stop) {
  const std::lock_guard lock(mutex_);
  const auto found = statements_.find(stop.statement);
  if (found != statements_.end()) found->second->stop(stop.error.error());
}

template <class F>
void CoordinatorSession::answer(std::uint64_t request, F f) {
  post([this, request, f = std::move(f)] {
    control::Reply reply{request, control::Acknowledged{}};
    try {
      reply.answer = f();
    } catch (const std::exception&) {
      reply.answer = RemoteError::of(std::current_exception());
    }
    send(reply);
  });
}

void CoordinatorSession::take(control::Put put) {
  const auto bytes = bytes_of(put);
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_bytes_ < kMostWaitingBytes; });
    waiting_bytes_ += bytes;
  }
  post([this, bytes, put = std::move(put)] {
    try {
      unprepared_.insert(put.transaction);
      node_.shards.put(put.transaction, outgoing(put.contents));
      node_.note_change();
    } catch (const Error& error) {
      failed_puts_.emplace(put.transaction, error);
    }
    const std::lock_guard lock(mutex_);
    waiting_bytes_ -= bytes;
    changed_.notify_all();
  });
}

void CoordinatorSession::take(const control::Fetch& fetch) {
  answer(fetch.request,
         [this, content = fetch.content] { return control::Content{bytes_of(node_.shards.open(content))}; });
}

void CoordinatorSession::take(const control::Prepare& prepare) {
  answer(prepare.request, [this, prepare] {
    const auto failed = failed_puts_.find(prepare.transaction);
    if (failed != failed_puts_.end()) throw Error(failed->second);
    node_.shards.prepare(prepare.transaction, prepare.contents);
    unprepared_.erase(prepare.transaction);
    return control::Acknowledged{};
  });
}

void CoordinatorSession::take(const control::Commit& commit) {
  answer(commit.request, [this, commit] {
    std::vector<ContentRange> kept;
    for (const auto& range : commit.kept) kept.push_back({range.first, range.last});
    node_.shards.commit(commit.transaction, kept);
    node_.note_change();
    unprepared_.erase(commit.transaction);
    return control::Acknowledged{};
  });
}

void CoordinatorSession::take(const control::Abort& abort) {
  post([this, transaction = abort.transaction] {
    try {
      node_.shards.abort(transaction);
      unprepared_.erase(transaction);
    } catch (const std::exception& error) {  // tried again at the end of the session
      log(NodeLog::Level::Warning, "contents not removed", error.what());
    }
    failed_puts_.erase(transaction);
    node_.note_change();
  });
}

void CoordinatorSession::take(const control::Drop& drop) {
  answer(drop.request, [this, contents = drop.contents] {
    node_.shards.drop(contents);
    node_.note_change();
    return control::Acknowledged{};
  });
}

void CoordinatorSession::take(const control::AskUndecided& ask) {
  answer(ask.request, [this] { return control::Undecided{node_.shards.undecided()}; });
}

}  // namespace eindb
