#include "cluster/connection.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

using Wait = SocketProgress::Wait;

iovec vector_of(std::span<std::byte> bytes) { return {bytes.data(), bytes.size()}; }
// The system uses the same structure for reading and writing.
iovec vector_of(std::span<const std::byte> bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Connection::Connection(FileDescriptor socket, std::string peer) : socket_(std::move(socket)), peer_(std::move(peer)) {
  CHECK(static_cast<bool>(socket_), "a connection has a socket");
}

void Connection::fail(const std::string& what) const {
  throw Error(ErrorKind::WorkerLost, "the connection to " + peer_ + " " + what);
}

void Connection::fail_tls(const std::string& what) const {
  fail(tls_->failure().empty() ? what : what + ": " + tls_->failure());
}

void Connection::begin_tls(const TlsContext& context, TlsSide side) {
  CHECK(!tls_ && !sealer_, "TLS begins once, and before frames do");
  tls_.emplace(socket_.get(), context, side);
}

Connection::Wait Connection::greet() {
  CHECK(tls_.has_value(), "a connection greets when TLS begins");
  const auto wait = tls_->greet();
  if (wait == Wait::Never) fail_tls("does not begin with TLS as it should");
  return wait;
}

std::optional<std::byte> Connection::first_byte() const {
  CHECK(!tls_, "the first byte is looked at before TLS takes it");
  std::byte first{};
  if (::recv(socket_.get(), &first, 1, MSG_DONTWAIT | MSG_PEEK) != 1) return std::nullopt;
  return first;
}

void Connection::authenticate(const ConnectionKeys& keys) {
  CHECK(!sealer_ && !opener_, "a connection is authenticated once");
  sealer_.emplace(keys.sending);
  opener_.emplace(keys.receiving);
  ahead_.resize(kReadAhead);
}

// ---- The socket ----------------------------------------------------------------------------------------------------

SocketProgress Connection::read_socket(std::span<std::byte> to) {
  if (!tls_) return read_plain(to);
  const auto progress = tls_->read(to);
  bytes_received_ += progress.bytes;
  if (progress.wait == Wait::Never) fail_tls("has ended");
  return progress;
}

SocketProgress Connection::read_plain(std::span<std::byte> to) {
  const auto count = ::recv(socket(), to.data(), to.size(), MSG_DONTWAIT);
  if (count > 0) {
    bytes_received_ += static_cast<std::uint64_t>(count);
    return {.bytes = static_cast<std::size_t>(count)};
  }
  if (count < 0 && would_block(errno)) return {.wait = Wait::Readable};
  fail(count == 0 ? "has ended" : "is broken: " + std::system_category().message(errno));
}

/// Returns buffered bytes first. Without TLS, a read fills `to` and buffers the bytes after it.
SocketProgress Connection::read(std::span<std::byte> to) {
  CHECK(ahead_begin_ <= ahead_end_ && ahead_end_ <= ahead_.size(), "what was read ahead lies in its room");
  if (const auto count = std::min(to.size(), ahead_end_ - ahead_begin_); count > 0) {
    std::copy_n(ahead_.begin() + static_cast<std::ptrdiff_t>(ahead_begin_), count, to.begin());
    ahead_begin_ += count;
    return {.bytes = count};
  }
  if (tls_) return read_socket(to);
  const std::array vectors{vector_of(to), vector_of(std::span(ahead_))};
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(vectors.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  message.msg_iovlen = vectors.size();
  const auto result = ::recvmsg(socket(), &message, MSG_DONTWAIT);
  if (result < 0 && would_block(errno)) return {.wait = Wait::Readable};
  if (result <= 0) fail(result == 0 ? "has ended" : "is broken: " + std::system_category().message(errno));
  const auto count = static_cast<std::size_t>(result);
  bytes_received_ += count;
  ahead_begin_ = 0;
  ahead_end_ = count - std::min(count, to.size());
  return {.bytes = count - ahead_end_};
}

SocketProgress Connection::write_socket(std::span<const std::byte> first, std::span<const std::byte> second) {
  return tls_ ? write_tls(first, second) : write_plain(first, second);
}

SocketProgress Connection::write_tls(std::span<const std::byte> first, std::span<const std::byte> second) {
  const auto progress = tls_->write(first.empty() ? second : first);
  if (progress.wait == Wait::Never) fail_tls("has ended");
  return progress;
}

SocketProgress Connection::write_plain(std::span<const std::byte> first, std::span<const std::byte> second) {
  std::array vectors{vector_of(first), vector_of(second)};
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = vectors.size();
  const auto count = ::sendmsg(socket(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count >= 0) return {.bytes = static_cast<std::size_t>(count)};
  if (would_block(errno)) return {.wait = Wait::Writable};
  fail("is broken: " + std::system_category().message(errno));
}

// ---- Sending -------------------------------------------------------------------------------------------------------

void Connection::stage(const FrameHeader& header, std::span<const std::byte> head, std::span<const std::byte> payload) {
  CHECK(payload_.empty(), "one payload at a time is sent from where it lies");
  CHECK(sealer_.has_value(), "a connection sends frames when it was authenticated");
  CHECK(payload.size() <= header.total, "a piece is no larger than its message");
  if (staged_sent_ == staged_.size()) {
    staged_.clear();
    staged_sent_ = 0;
  }
  const auto bytes = sealer_->seal(header, head, payload);
  staged_.insert(staged_.end(), bytes.begin(), bytes.end());
  staged_.insert(staged_.end(), head.begin(), head.end());
  if (payload.size() <= kSmallPayload) staged_.insert(staged_.end(), payload.begin(), payload.end());
  else payload_ = payload;
}

void Connection::keep_payload() {
  staged_.insert(staged_.end(), payload_.begin(), payload_.end());
  payload_ = {};
}

Connection::Wait Connection::flush() {
  while (!is_flushed()) {
    CHECK(staged_sent_ <= staged_.size(), "no more was sent than was staged");
    const auto rest = std::span(staged_).subspan(staged_sent_);
    const auto progress = write_socket(rest, payload_);
    if (progress.wait != Wait::None) return progress.wait;
    CHECK(progress.bytes <= rest.size() + payload_.size(), "a socket takes no more than it was given");
    const auto of_staged = std::min(progress.bytes, rest.size());
    staged_sent_ += of_staged;
    payload_ = payload_.subspan(progress.bytes - of_staged);
  }
  return Wait::None;
}

// ---- Receiving -----------------------------------------------------------------------------------------------------

Connection::Wait Connection::fetch_frame() {
  CHECK(opener_.has_value(), "a connection receives frames when it was authenticated");
  while (!frame_) {
    FrameHeaderBytes bytes{};
    std::size_t size = kFrameHeaderBytes;
    if (header_received_ >= size) {
      std::copy_n(header_.begin(), size, bytes.begin());
      size += FrameOpener::head_size(bytes);
    }
    CHECK(header_received_ <= size, "no more is read of a head than it has");
    if (header_received_ == size) {
      frame_ = opener_->open(bytes, std::span(header_).subspan(kFrameHeaderBytes, size - kFrameHeaderBytes));
      return Wait::None;
    }
    const auto progress = read(std::span(header_).subspan(header_received_, size - header_received_));
    if (progress.wait != Wait::None) return progress.wait;
    header_received_ += progress.bytes;
  }
  return Wait::None;
}

Connection::Wait Connection::fetch_payload(std::span<std::byte> to) {
  CHECK(frame_ && to.size() == frame_->payload_size, "a payload goes to where there is room for it");
  CHECK(payload_received_ <= to.size(), "no more is read of a payload than it has");
  while (payload_received_ < to.size()) {
    const auto progress = read(to.subspan(payload_received_));
    if (progress.wait != Wait::None) return progress.wait;
    payload_received_ += progress.bytes;
  }
  opener_->check_payload(*frame_, to);
  return Wait::None;
}

void Connection::finish_frame() {
  CHECK(frame_ && payload_received_ == frame_->payload_size, "a frame is finished when all of it is there");
  frame_.reset();
  header_received_ = 0;
  payload_received_ = 0;
}

}  // namespace eindb
