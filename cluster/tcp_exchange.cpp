#include "cluster/tcp_exchange.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>

#include "cluster/abort_head.hpp"
#include "cluster/cancellation_poll.hpp"
#include "cluster/peer_lost.hpp"
#include "common/cancellation.hpp"
#include "common/caught_error.hpp"
#include "common/check.hpp"
#include "common/memory_wait.hpp"
#include "common/stopwatch.hpp"
#include "executor/rank_error.hpp"

namespace eindb {
namespace {

using Wait = Connection::Wait;
using Clock = std::chrono::steady_clock;

// The number of frames handled on one connection before the others have their turn.
constexpr int kFramesAtATime = 4;

int make_event() {
  const int event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event < 0) throw Error(ErrorKind::Io, "the operating system has no more descriptors");
  return event;
}

FrameKind kind_of(const Traffic& traffic) { return traffic.is_streamed ? FrameKind::Piece : FrameKind::Block; }

// Fetches a frame, and discards it if it is a sign of life.
Wait fetch_no_sign_of_life(Connection& connection) {
  const auto wait = connection.fetch_frame();
  if (wait != Wait::None || connection.frame()->kind != FrameKind::Alive) return wait;
  if (connection.frame()->total != 0) throw Error(ErrorKind::Corrupt, "a sign of life has a payload");
  connection.finish_frame();
  return wait;
}

[[noreturn]] void fail_frame(const char* what) { throw Error(ErrorKind::Corrupt, std::string("a frame ") + what); }

}  // namespace

TcpExchange::TcpExchange(StatementRanks ranks, std::vector<std::unique_ptr<Connection>> connections,
                         std::weak_ptr<DataConnections> home, std::chrono::milliseconds silence)
    : ranks_(std::move(ranks)),
      home_(std::move(home)),
      silence_(silence),
      links_(connections.size()),
      wake_(make_event()) {
  CHECK(links_.size() == ranks_.addresses.size(), "an exchange has a place for the connection to each rank");
  CHECK(ranks_.rank < links_.size() && connections[ranks_.rank] == nullptr, "a rank has no connection to itself");
  for (std::size_t peer = 0; peer < connections.size(); ++peer) links_[peer].connection = std::move(connections[peer]);
  if (const auto node = home_.lock()) node->keep_alive(*this);
}

TcpExchange::~TcpExchange() {
  if (const auto node = home_.lock()) node->forget(*this);
  const std::lock_guard lock(mutex_);
  if (!failure_) release();
}

// A connection that cannot send this small frame at once is closed.
void TcpExchange::release() noexcept {
  const auto home = home_.lock();
  if (!home) return;
  for (Rank peer = 0; peer < static_cast<Rank>(links_.size()); ++peer) {
    auto& link = links_[peer];
    if (link.connection == nullptr || link.broken) continue;
    try {
      link.connection->stage({.kind = FrameKind::Release, .stream = ranks_.statement});
      if (link.connection->flush() != Wait::None) continue;
      home->give_back(std::move(link.connection), ranks_, peer);
    } catch (const std::exception&) {  // the connection has ended
    }
  }
}

std::string TcpExchange::name_of(Rank rank) const {
  const auto& address = ranks_.addresses[rank];
  return address.empty() ? "the coordinator" : "worker " + address;
}

// ---- The operation -------------------------------------------------------------------------------------------------

void TcpExchange::transfer(const Traffic& traffic) {
  try {
    begin(traffic);
    run(traffic);
  } catch (...) {
    fail(std::current_exception());
  }
  const std::lock_guard lock(mutex_);
  operates_ = false;
  if (failure_) say_farewell(as_told(failure_));  // a failure that came too late for this operation
}

bool TcpExchange::has_connection(Rank peer) const { return peer < links_.size() && links_[peer].connection != nullptr; }

void TcpExchange::begin(const Traffic& traffic) {
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
  CHECK(!operates_, "one operation runs at a time");
  operates_ = true;
  next_sign_ = Clock::now() + kSignOfLife;
  for (auto& link : links_) {
    link.is_readable = link.is_writable = true;
    link.heard = Clock::now();
  }
  for (const auto peer : traffic.to) {
    CHECK(has_connection(peer) && !links_[peer].sends, "a rank sends once to each other that it has a connection to");
    links_[peer].sends = true;
  }
  for (const auto peer : traffic.from) {
    CHECK(has_connection(peer) && !links_[peer].receives, "a rank receives once from each that it has a connection to");
    links_[peer].receives = true;
  }
}

void TcpExchange::run(const Traffic& traffic) {
  while (true) {
    bool moved = false;
    for (Rank peer = 0; peer < static_cast<Rank>(links_.size()); ++peer) {
      if (links_[peer].connection == nullptr) continue;
      moved |= send(traffic, peer);
      moved |= receive(traffic, peer);
      check_broken(peer);
    }
    check_interrupted();
    if (is_done()) return;
    if (Clock::now() >= next_sign_) {
      next_sign_ = Clock::now() + kSignOfLife;
      stage_signs_of_life();
      look_for_silence();
    }
    if (!moved) wait();
  }
}

bool TcpExchange::is_done() const {
  return std::all_of(links_.begin(), links_.end(), [](const Link& link) {
    return link.connection == nullptr || (!link.sends && !link.receives && link.connection->is_flushed());
  });
}

void TcpExchange::check_interrupted() {
  if (!interrupted_) return;
  const std::lock_guard lock(mutex_);
  CHECK(failure_ != nullptr, "what interrupts an operation is a failure");
  std::rethrow_exception(failure_);
}

void TcpExchange::wait() {
  std::vector<pollfd> asked{{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
  std::vector<Link*> links;
  for (auto& link : links_) {
    if (link.connection == nullptr || link.broken) continue;
    const bool listens = link.receives || link.connection->frame() == nullptr;
    const auto events = (link.connection->is_flushed() ? 0 : POLLOUT) | (listens ? POLLIN : 0);
    if (events == 0) continue;
    asked.push_back({.fd = link.connection->socket(), .events = static_cast<short>(events), .revents = 0});
    links.push_back(&link);
  }
  const Stopwatch stopwatch;
  ::poll(asked.data(), asked.size(), static_cast<int>(kCancellationPoll.count()));
  count_waiting(stopwatch.seconds());
  for (std::size_t n = 0; n < links.size(); ++n) {
    const auto events = asked[n + 1].revents;
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) links[n]->is_readable = true;
    if ((events & (POLLOUT | POLLHUP | POLLERR)) != 0) links[n]->is_writable = true;
  }
  poll_cancellation();
}

// ---- Signs of life --------------------------------------------------------------------------------------------------

// Queued data on a connection already serves as a sign of life.
void TcpExchange::stage_signs_of_life() {
  for (Rank peer = 0; peer < static_cast<Rank>(links_.size()); ++peer) {
    auto& link = links_[peer];
    if (link.connection == nullptr || link.broken || link.unwritable || !link.connection->is_flushed()) continue;
    link.connection->stage({.kind = FrameKind::Alive, .stream = ranks_.statement});
    flush(peer);
  }
}

void TcpExchange::give_signs_of_life() noexcept {
  const std::lock_guard lock(mutex_);
  if (operates_ || failure_) return;
  try {
    stage_signs_of_life();
  } catch (const std::exception&) {  // the next operation reports it
  }
}

// A frame for a later operation hides the bytes after it, so its connection does not count as silent.
void TcpExchange::look_for_silence() {
  for (Rank peer = 0; peer < static_cast<Rank>(links_.size()); ++peer) {
    auto& link = links_[peer];
    if (link.connection == nullptr || link.broken) continue;
    const bool hides = link.connection->frame() != nullptr && !link.receives;
    const auto heard = std::exchange(link.bytes_heard, link.connection->bytes_received());
    if (hides || heard != link.bytes_heard) link.heard = Clock::now();
    const bool is_needed = link.sends || link.receives || !link.connection->is_flushed();
    if (!is_needed || Clock::now() - link.heard < silence_) continue;
    const auto seconds = std::to_string(std::chrono::duration_cast<std::chrono::seconds>(silence_).count());
    throw PeerLost({peer, true},
                   Error(ErrorKind::WorkerLost, name_of(peer) + " is lost: nothing has come from it for " + seconds +
                                                    " s on a connection that is open"));
  }
}

// ---- Connections that fail -----------------------------------------------------------------------------------------

/// Stores the connection's error instead of throwing it, since another rank may have reported the cause before.
template <class F>
Wait TcpExchange::on_connection(Rank peer, F f) {
  try {
    return f();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Corrupt)
      if (const auto home = home_.lock())
        home->log("connection to " + links_[peer].connection->peer() + " closed: " + error.message());
    links_[peer].broken = Error(ErrorKind::WorkerLost, name_of(peer) + " is lost: " + error.message());
    return Wait::Never;
  }
}

void TcpExchange::check_broken(Rank peer) const {
  const auto& link = links_[peer];
  if (link.broken && (link.sends || link.receives || !link.connection->is_flushed()))
    throw PeerLost({peer}, *link.broken);
}

// ---- Sending -------------------------------------------------------------------------------------------------------

/// Returns whether there was something to send.
bool TcpExchange::send(const Traffic& traffic, Rank peer) {
  auto& link = links_[peer];
  auto& connection = *link.connection;
  if (!link.is_writable || link.broken || link.unwritable) return false;
  bool moved = false;
  for (int frames = 0; frames < kFramesAtATime; ++frames) {
    while (link.sends && connection.can_stage()) stage_next(traffic, peer);
    if (connection.is_flushed()) return moved;
    moved = true;
    if (flush(peer) == Wait::None) continue;
    link.is_writable = false;
    return moved;
  }
  return true;
}

/// A peer that no longer takes data may have sent the reason before, so its connection is read until it ends.
Wait TcpExchange::flush(Rank peer) {
  auto& link = links_[peer];
  const auto wait = on_connection(peer, [&] { return link.connection->flush(); });
  if (link.broken) {
    link.unwritable = std::exchange(link.broken, std::nullopt);
    link.is_readable = true;
  }
  return wait;
}

void TcpExchange::stage_next(const Traffic& traffic, Rank peer) {
  auto& link = links_[peer];
  std::span<const std::byte> head;
  if (!link.sends_message && !begin_message(traffic, peer, head)) return;
  const auto piece = link.unstaged.first(std::min(link.unstaged.size(), kMostFramePayload));
  link.unstaged = link.unstaged.subspan(piece.size());
  link.connection->stage({.kind = kind_of(traffic), .stream = ranks_.statement, .total = link.sent_total}, head, piece);
  link.sends_message = !link.unstaged.empty();
  if (!link.sends_message && !traffic.is_streamed) link.sends = false;
}

/// Returns false at the end of the stream.
bool TcpExchange::begin_message(const Traffic& traffic, Rank peer, std::span<const std::byte>& head) {
  auto& link = links_[peer];
  const auto message = traffic.out.next(peer);
  if (!message) {
    link.connection->stage({.kind = FrameKind::End, .stream = ranks_.statement});
    link.sends = false;
    return false;
  }
  CHECK(link.unstaged.empty(), "a message begins when the one before it has been staged");
  CHECK(message->header.size() <= kMaxHeader, "the header of a message is small");
  count_sent(*message);
  head = message->header;
  link.unstaged = message->payload;
  link.sent_total = message->payload.size();
  return true;
}

// ---- Receiving -----------------------------------------------------------------------------------------------------

/// Returns whether there was something to receive. A frame for a later operation is left unread.
bool TcpExchange::receive(const Traffic& traffic, Rank peer) {
  auto& link = links_[peer];
  bool moved = false;
  for (int frames = 0; frames < kFramesAtATime && link.is_readable && !link.broken; ++frames) {
    if (!fetch_frame(peer) || !link.receives || !receive_frame(traffic, peer)) break;
    moved = true;
  }
  // No report of the reason can arrive any more.
  if (link.unwritable && !moved && !link.broken) link.broken = link.unwritable;
  return moved;
}

/// Returns whether a frame is available.
bool TcpExchange::fetch_frame(Rank peer) {
  auto& link = links_[peer];
  if (link.connection->frame() != nullptr) return true;
  do {
    const auto wait = on_connection(peer, [&] { return fetch_no_sign_of_life(*link.connection); });
    link.is_readable = wait == Wait::None;
  } while (link.is_readable && link.connection->frame() == nullptr);
  if (link.is_readable && link.connection->frame()->kind == FrameKind::Abort) read_abort(peer);
  return link.is_readable;
}

/// Returns whether the frame was complete.
bool TcpExchange::receive_frame(const Traffic& traffic, Rank peer) {
  auto& link = links_[peer];
  auto& connection = *link.connection;
  if (!link.receives_piece) {
    if (on_connection(peer, [&] { return check_frame(traffic, link); }) != Wait::None) return false;
    if (connection.frame()->kind == FrameKind::End) {
      connection.finish_frame();
      link.receives = false;
      return true;
    }
    begin_piece(traffic, peer);
  }
  CHECK(connection.frame()->payload_size <= link.target.size() - link.received, "a piece has room in its message");
  const auto to = link.target.subspan(link.received, connection.frame()->payload_size);
  const auto wait = on_connection(peer, [&] { return connection.fetch_payload(to); });
  link.is_readable = wait == Wait::None;
  if (!link.is_readable) return false;
  end_piece(traffic, peer);
  return true;
}

/// Checks that the frame is the operation's next one.
Wait TcpExchange::check_frame(const Traffic& traffic, const Link& link) const {
  const auto& frame = *link.connection->frame();
  if (frame.stream != ranks_.statement) fail_frame("belongs to another statement");
  if (frame.kind == FrameKind::Release) throw Error(ErrorKind::WorkerLost, "it has ended its part in the statement");
  const bool ends = frame.kind == FrameKind::End && traffic.is_streamed && !link.receives_message && frame.total == 0;
  if (frame.kind != kind_of(traffic) && !ends) fail_frame("belongs to another operation");
  const auto left = link.receives_message ? link.target.size() - link.received : frame.total;
  const bool goes_on = !link.receives_message || (frame.total == link.target.size() && frame.head_size == 0);
  if (!goes_on || frame.payload_size > left || (frame.payload_size == 0 && frame.total != 0))
    fail_frame("is no piece of its message");
  return Wait::None;
}

void TcpExchange::begin_piece(const Traffic& traffic, Rank peer) {
  auto& link = links_[peer];
  const auto& connection = *link.connection;
  link.receives_piece = true;
  if (link.receives_message) return;
  const auto total = static_cast<std::size_t>(connection.frame()->total);
  link.header_bytes = connection.head().size();
  link.target = traffic.in.begin(peer, connection.head(), total);
  CHECK(link.target.size() == total, "a stream has room for the message that it was told of");
  link.received = 0;
  link.receives_message = true;
}

void TcpExchange::end_piece(const Traffic& traffic, Rank peer) {
  auto& link = links_[peer];
  CHECK(link.receives_piece && link.receives_message, "a piece ends that has begun");
  link.received += link.connection->frame()->payload_size;
  link.connection->finish_frame();
  link.receives_piece = false;
  if (link.received < link.target.size()) return;
  link.receives_message = false;
  if (!traffic.is_streamed) link.receives = false;
  count_received(link.header_bytes, link.target.size());
  traffic.in.end(peer);
}

// ---- Failures ------------------------------------------------------------------------------------------------------

/// Handles the failure of another rank, which names the rank where it began.
void TcpExchange::read_abort(Rank peer) {
  auto& link = links_[peer];
  auto failure = read_abort_head(link.connection->head());
  if (!failure || failure->origin >= size()) {
    link.broken = Error(ErrorKind::WorkerLost, name_of(peer) + " has failed and does not say why");
    throw Error(*link.broken);
  }
  told_ = std::move(failure);
  throw error_of_rank(name_of(told_->origin), std::make_exception_ptr(told_->error));
}

// Only the first failure counts. It is sent to all other ranks, even those that may know it.
void TcpExchange::fail(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  operates_ = false;
  const bool is_first = !failure_;
  if (is_first) failure_ = std::move(error);
  say_farewell(is_first && told_ ? *told_ : as_told(failure_));
  std::rethrow_exception(failure_);
}

void TcpExchange::abort(std::exception_ptr error) noexcept {
  const std::lock_guard lock(mutex_);
  if (failure_) return;
  failure_ = std::move(error);
  interrupted_ = true;
  if (operates_) ::eventfd_write(wake_.get(), 1);
  else say_farewell(as_told(failure_));
}

AbortCause TcpExchange::as_told(const std::exception_ptr& error) const {
  return when_there_is_memory([&]() -> AbortCause {
    try {
      std::rethrow_exception(error);
    } catch (...) {
      return {rank(), caught_error("its part of the statement")};
    }
  });
}

// Call with mutex_ held. Does not wait for receivers: the node sends the remaining data.
void TcpExchange::say_farewell(const AbortCause& cause) noexcept {
  const auto home = home_.lock();
  const auto head = when_there_is_memory([&] { return write_abort_head(cause); });
  for (auto& link : links_) {
    auto connection = std::move(link.connection);
    if (connection == nullptr || link.broken || link.unwritable || !home) continue;
    try {
      connection->keep_payload();
      connection->stage({.kind = FrameKind::Abort, .stream = ranks_.statement}, head);
      home->say_farewell(std::move(connection));
    } catch (const std::bad_alloc&) {  // the connection is closed, which signals the failure as well
    }
  }
}

}  // namespace eindb
