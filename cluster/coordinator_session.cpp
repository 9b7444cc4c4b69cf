#include "cluster/coordinator_session.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>
#include <variant>

#include "common/caught_error.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "common/memory_wait.hpp"

namespace eindb {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatienceForHello = std::chrono::seconds(10);
constexpr milliseconds kShortestHeartbeat{1};
constexpr milliseconds kLongestHeartbeat = std::chrono::hours(1);

std::vector<OutgoingContent> outgoing(const std::vector<control::NewContent>& contents) {
  std::vector<OutgoingContent> out;
  for (const auto& content : contents)
    out.push_back({content.content, content.tensor, content.bytes, {}, content.since});
  return out;
}

std::vector<ContentRange> received_ranges(const std::vector<control::SentRange>& ranges) {
  std::vector<ContentRange> received;
  for (const auto& range : ranges) received.push_back({range.first, range.last});
  return received;
}

std::optional<std::vector<std::byte>> bytes_of(const std::unique_ptr<ByteSource>& content) {
  if (content == nullptr) return std::nullopt;
  std::vector<std::byte> bytes(content->size());
  content->read(0, bytes);
  return bytes;
}

}  // namespace

CoordinatorSession::CoordinatorSession(WorkerDatabases& databases, std::unique_ptr<Channel> channel)
    : databases_(databases),
      node_(&databases.first()),
      peer_(channel->peer()),
      greeted_(std::move(channel)),
      channel_(greeted_.get()),
      thread_([this] { run(); }) {}

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
  } catch (const std::exception&) {  // the link has ended, as intended
  }
}

// The coordinator closes the link once no node waits for data. If both sides closed it, the last messages could be
// lost, and data of this worker may still be in transit to other ranks after its part of a statement has ended.
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
    prober_.end();
    forget_unprepared();
    node_->note_coordinator_left();
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
    auto hello = decode_hello(receive_first(*greeted_, kPatienceForHello));
    if (hello.heartbeat < kShortestHeartbeat || hello.heartbeat > kLongestHeartbeat)
      throw Error(ErrorKind::Value, "a heartbeat of " + std::to_string(hello.heartbeat.count()) + " ms makes no sense",
                  std::nullopt, "use one between 1ms and 1h");
    node_ = &databases_.node_for(hello);
    if (const auto silence = node_->disk_silence(); silence.count() > 0)
      throw Error(ErrorKind::Busy, "its disk has not answered for " + in_seconds(silence), std::nullopt,
                  "see to the worker's disk");
    if (node_->is_draining()) throw Error(ErrorKind::Busy, "it is being drained, and about to leave");
    if (hello.database != 0) claim(hello.database, hello.former);
    const auto& options = node_->options;
    node_->look_at_room();
    greeted_->send(encode(control::Welcome{kControlVersion, options.program, node_->shards.id(),
                                           node_->exchanges.address(), options.threads, node_->memory().whole(),
                                           node_->shards.epoch(), node_->load().bytes_free, options.memory_pool}));
    return hello;
  } catch (const Error& error) {
    // No answer is sent to a peer that does not speak this protocol.
    if (error.kind() != ErrorKind::Corrupt && error.kind() != ErrorKind::WorkerLost)
      greeted_->send(encode(control::Refusal{RemoteError::of(std::current_exception())}));
    throw;
  }
}

void CoordinatorSession::claim(std::int64_t database, std::span<const std::int64_t> former) {
  const auto before = node_->shards.database();
  database_ = 0;  // accepts messages for either identity during the change
  node_->shards.claim(database, former);
  database_ = database;
  if (before != database && before != 0)
    log(NodeLog::Level::Warning, "database taken over", "the file that it was before is not served any more");
}

void CoordinatorSession::serve_until_end() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !tasks_.empty() || (link_ended_ && statements_.empty()); });
    if (tasks_.empty()) return;
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    try {
      task();
    } catch (const std::exception&) {  // no memory even for an answer, so the state of the request is unknown
      when_there_is_memory([&] { link_->close(caught_error("what the coordinator has asked for")); });
    }
    lock.lock();
  }
}

// These transactions cannot be committed any more: the coordinator's transaction failed with the channel.
void CoordinatorSession::forget_unprepared() noexcept {
  for (const auto transaction : unprepared_) node_->abort(transaction, WorkerNode::Abort::UnlessPrepared);
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
    const auto bytes = when_there_is_memory([&] { return encode(message); });
    try {
      link_->send(bytes);
    } catch (const std::bad_alloc&) {  // the message may be sent in part, so the link must end
      when_there_is_memory([&] { link_->close(out_of_memory("a message")); });
    }
  } catch (const std::exception&) {
    // The link has ended, and so does the session. The coordinator treats all requests as failed.
  }
}

void CoordinatorSession::log(NodeLog::Level level, std::string_view event, std::string_view detail) noexcept {
  node_->log.write(level, event, peer_, detail);
}

// ---- The link's threads --------------------------------------------------------------------------------------------

std::vector<std::byte> CoordinatorSession::sign_of_life() {
  // Counting may wait for the disk, so another thread does it.
  if (node_->wants_count()) post([this] { count_contents(); });
  if (const auto changes = node_->damage_changes(); std::exchange(damage_told_, changes) != changes)
    post([this] { send(control::Damaged{node_->damaged()}); });
  return encode(control::Pulse{node_->load()});
}

void CoordinatorSession::count_contents() noexcept {
  try {
    node_->count_contents();
  } catch (const std::exception& error) {
    log(NodeLog::Level::Warning, "contents not counted", error.what());
  }
}

void CoordinatorSession::receive(std::span<const std::byte> message) {
  if (database_ != 0 && database_ != node_->shards.database())
    throw Error(ErrorKind::WorkerLost, "a copy of the database's file has taken its place");
  std::visit([this](auto&& what) { take(std::forward<decltype(what)>(what)); }, decode_to_worker(message));
}

void CoordinatorSession::end(const Error& why) noexcept {
  log(NodeLog::Level::Info, "coordinator left", why.message());
  {
    const std::lock_guard lock(mutex_);
    link_ended_ = true;
    const auto lost = when_there_is_memory(
        [&] { return Error(ErrorKind::WorkerLost, "the coordinator was lost: " + why.message()); });
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
  const auto on_done = [this, number](control::Done done) {
    send(std::move(done));
    when_there_is_memory([&] {
      post([this, number] {
        std::unique_ptr<StatementRun> ended;
        const std::lock_guard lock(mutex_);
        auto place = statements_.extract(number);
        CHECK(!place.empty(), "a statement that ends has begun");
        ended = std::move(place.mapped());
      });
    });
  };
  const std::lock_guard lock(mutex_);
  // Reserves the entry first: if there is no memory for it, the statement must not start.
  const auto [statement, is_new] = statements_.try_emplace(number);
  if (!is_new) throw Error(ErrorKind::Corrupt, "the coordinator runs a statement twice");
  try {
    statement->second = std::make_unique<StatementRun>(*node_, std::move(run), on_done);
  } catch (const std::exception&) {  // draining; the coordinator must know before it plans again
    statements_.erase(statement);
    send(control::Pulse{node_->load()});
    send(control::Done{number, RemoteError::of(std::current_exception()), {}});
  }
}

// Later requests are served only after the stopped statement has ended its writes to the disk.
void CoordinatorSession::take(const control::Stop& stop) {
  std::shared_ptr<PutGate> gate;
  {
    const std::lock_guard lock(mutex_);
    const auto found = statements_.find(stop.statement);
    if (found == statements_.end()) return;
    CHECK(found->second != nullptr, "a statement that has a place runs");
    found->second->stop(stop.error.error());
    gate = found->second->gate();
  }
  post([gate = std::move(gate)] { gate->wait_until_idle(); });
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

// Counts received contents that are not stored yet.
class CoordinatorSession::Waiting {
 public:
  Waiting(CoordinatorSession& session, std::size_t bytes) : session_(session), bytes_(bytes) {}
  ~Waiting() {
    const std::lock_guard lock(session_.mutex_);
    session_.waiting_bytes_ -= bytes_;
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  CoordinatorSession& session_;
  const std::size_t bytes_;
};

void CoordinatorSession::take(control::Put put) {
  const auto request = put.request;
  const auto bytes = bytes_of(put);
  {
    const std::lock_guard lock(mutex_);
    if (waiting_bytes_ > 0 && waiting_bytes_ + bytes > kMostWaitingBytes)
      throw Error(ErrorKind::Corrupt, "the coordinator sends contents faster than they are stored");
    waiting_bytes_ += bytes;
  }
  answer(request, [this, bytes, put = std::move(put)] {
    const Waiting waiting(*this, bytes);
    try {
      unprepared_.insert(put.transaction);
      node_->shards.put(put.transaction, outgoing(put.contents));
      node_->note_change();
    } catch (const Error& error) {
      failed_puts_.emplace(put.transaction, error);
      throw;
    }
    return control::Acknowledged{};
  });
}

void CoordinatorSession::take(const control::Fetch& fetch) {
  answer(fetch.request, [this, contents = fetch.contents] {
    control::Contents found;
    for (const auto content : contents) found.bytes.push_back(bytes_of(node_->shards.open(content)));
    return found;
  });
}

void CoordinatorSession::take(const control::Prepare& prepare) {
  answer(prepare.request, [this, prepare] {
    const auto failed = failed_puts_.find(prepare.transaction);
    if (failed != failed_puts_.end()) throw Error(failed->second);
    node_->shards.prepare(prepare.transaction, prepare.contents);
    unprepared_.erase(prepare.transaction);
    return control::Acknowledged{};
  });
}

void CoordinatorSession::take(const control::Commit& commit) {
  answer(commit.request, [this, commit] {
    node_->shards.advance(epoch_);
    node_->shards.commit(commit.transaction, received_ranges(commit.kept));
    note_removal();
    unprepared_.erase(commit.transaction);
    return control::Acknowledged{};
  });
}

void CoordinatorSession::take(const control::Abort& abort) {
  post([this, transaction = abort.transaction] {
    node_->abort(transaction, WorkerNode::Abort::Always);
    unprepared_.erase(transaction);
    failed_puts_.erase(transaction);
    note_removal();
  });
}

void CoordinatorSession::take(const control::Drop& drop) {
  answer(drop.request, [this, contents = drop.contents, as_of = drop.as_of] {
    node_->shards.advance(epoch_);
    node_->shards.drop(received_ranges(contents), as_of);
    note_removal();
    return control::Acknowledged{};
  });
}

// Returns space to the disk in steps after the reply, so that other requests are served in between.
void CoordinatorSession::note_removal() {
  node_->note_change();
  if (!std::exchange(gives_back_, true)) post([this] { give_back(); });
}

void CoordinatorSession::give_back() noexcept {
  try {
    node_->note_change();
    if (node_->shards.give_back()) return post([this] { give_back(); });
  } catch (const std::exception& error) {  // tried again after the next removal
    log(NodeLog::Level::Warning, "space not given back", error.what());
  }
  gives_back_ = false;
}

void CoordinatorSession::take(control::Repair repair) {
  const auto request = repair.request;
  answer(request, [this, content = std::move(repair.content)] {
    node_->shards.repair({content.content, content.tensor, content.bytes, {}});
    node_->note_rewritten(content.content);
    node_->note_change();
    log(NodeLog::Level::Warning, "copy written anew",
        "content " + std::to_string(number(content.content)) + " of tensor " + content.tensor);
    return control::Acknowledged{};
  });
}

void CoordinatorSession::take(const control::Advance& advance) {
  post([this, epoch = advance.epoch] { epoch_ = epoch; });
}

void CoordinatorSession::take(const control::AskContents& ask) {
  answer(ask.request, [this] { return control::ContentList{node_->shards.contents()}; });
}

void CoordinatorSession::take(const control::AskUndecided& ask) {
  answer(ask.request, [this] {
    node_->note_undecided_asked();
    return control::Undecided{node_->shards.undecided()};
  });
}

void CoordinatorSession::take(const control::ShareMemory& share) {
  if (share.among == 0) throw Error(ErrorKind::Corrupt, "the coordinator shares memory among nobody");
  node_->share_memory_among(share.among);
}

void CoordinatorSession::take(const control::Claim& claim) {
  answer(claim.request, [this, claim] {
    this->claim(claim.database, claim.former);
    return control::Acknowledged{};
  });
}

void CoordinatorSession::take(const control::AskStandby& ask) {
  answer(ask.request, [this] { return control::StandbyEnd{node_->standby.place()}; });
}

void CoordinatorSession::take(const control::BeginStandby& begin) {
  answer(begin.request, [this] {
    node_->standby.begin();
    return control::Acknowledged{};
  });
}

void CoordinatorSession::take(control::StandbyBytes bytes) {
  const auto request = bytes.request;
  answer(request, [this, bytes = std::move(bytes)] {
    node_->standby.add_bytes(bytes.from, bytes.bytes);
    return control::Acknowledged{};
  });
}

void CoordinatorSession::take(control::StandbyFrames frames) {
  const auto request = frames.request;
  answer(request, [this, frames = std::move(frames)] {
    node_->standby.append(frames.of_new_copy ? StandbyCopy::Of::NewCopy : StandbyCopy::Of::Copy, frames.behind,
                          frames.header, frames.frames);
    return control::Acknowledged{};
  });
}

void CoordinatorSession::take(const control::FinishStandby& finish) {
  answer(finish.request, [this] {
    node_->standby.finish();
    return control::Acknowledged{};
  });
}

void CoordinatorSession::take(control::Probe probe) {
  prober_.ask(std::move(probe.addresses), [this, request = probe.request](const auto& errors) {
    control::Probed probed;
    for (const auto& error : errors)
      probed.errors.push_back(error ? std::optional(RemoteError{error->kind(), error->message(), error->hint()})
                                    : std::nullopt);
    send(control::Reply{request, std::move(probed)});
  });
}

}  // namespace eindb
