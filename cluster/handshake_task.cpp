#include "cluster/handshake_task.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "common/check.hpp"

namespace eindb {
namespace {

constexpr std::chrono::milliseconds kRefusalDelay{1000};
// The first byte of a handshake without TLS; TLS never begins with it.
constexpr std::byte kPlainText{'E'};

}  // namespace

HandshakeTask::HandshakeTask(NodeTasks& tasks, std::unique_ptr<Connection> connection, Handshake::Side side,
                             const NodeCredentials& credentials, Introduction self, std::chrono::milliseconds time,
                             Done done, Failed failed)
    : ConnectionTask(tasks, std::move(connection)),
      side_(side),
      credentials_(credentials),
      self_(std::move(self)),
      time_(time),
      done_(std::move(done)),
      failed_(std::move(failed)) {
  CHECK(done_ != nullptr && failed_ != nullptr, "somebody hears how a handshake ends");
}

void HandshakeTask::step() {
  if (refusal_) return;
  if (!has_begun_ && !begin()) return;
  CHECK(handshake_.has_value(), "a task that has begun has a handshake");
  try {
    while (send() && !handshake_->is_done())
      if (!receive()) return;
  } catch (const Error& error) {
    return refuse(error);
  }
  if (!handshake_->is_done() || !output_.empty()) return;
  connection().authenticate(handshake_->keys());
  done_(give_away(), handshake_->peer());
}

// Runs the handshake of TLS, if there is TLS; false if it must wait.
bool HandshakeTask::begin() {
  if (!has_time_) {
    expire_after(time_, "the connection to " + connection().peer() + " said nothing for too long");
    has_time_ = true;
  }
  if (credentials_.tls != nullptr && !begin_tls()) return false;
  handshake_.emplace(side_, credentials_.secret, self_, connection().channel_binding());
  has_begun_ = true;
  return true;
}

bool HandshakeTask::begin_tls() {
  if (!has_tls_) {
    if (side_ == Handshake::Side::Accepts) {
      const auto first = connection().first_byte();
      if (first == kPlainText) refuse_plain_text();
      if (!first && !std::exchange(has_waited_, true)) {
        step_when(Wait::Readable);
        return false;
      }
    }
    connection().begin_tls(*credentials_.tls, side_ == Handshake::Side::Accepts ? TlsSide::Server : TlsSide::Client);
    has_tls_ = true;
  }
  const auto wait = connection().greet();
  if (wait != Wait::None) step_when(wait);
  return wait == Wait::None;
}

// Refuses a peer without TLS in clear text. Its bytes are read first, since closing a socket with unread bytes may
// discard the answer.
void HandshakeTask::refuse_plain_text() {
  std::array<std::byte, Handshake::kMostMessage> hello{};
  connection().read_bytes(hello);
  output_ = Handshake::refusal_of_plain_text();
  throw Error(ErrorKind::Corrupt, "the connection to " + connection().peer() + " does not begin with TLS as it should");
}

bool HandshakeTask::send() {
  output_ += handshake_->take_output();
  while (!output_.empty()) {
    const auto progress = connection().write_bytes(std::as_bytes(std::span(output_)));
    output_.erase(0, progress.bytes);
    if (progress.wait == Wait::None) continue;
    step_when(progress.wait);
    return false;
  }
  return true;
}

bool HandshakeTask::receive() {
  CHECK(handshake_->wanted() > 0, "a handshake that goes on wants bytes");
  std::array<std::byte, Handshake::kMostMessage> buffer{};
  const auto progress = connection().read_bytes(std::span(buffer).first(std::min(handshake_->wanted(), buffer.size())));
  if (progress.wait != Wait::None) {
    step_when(progress.wait);
    return false;
  }
  handshake_->receive(std::span(buffer).first(progress.bytes));
  return true;
}

// The refusal is sent as far as the socket takes it; nothing waits for a refused peer.
void HandshakeTask::refuse(const Error& error) {
  if (side_ == Handshake::Side::Connects || error.kind() != ErrorKind::Permission) return end(error);
  refusal_ = error;
  expire_after(kRefusalDelay, error.message());
}

void HandshakeTask::failed(const Error& error) {
  if (handshake_) output_ += handshake_->take_output();
  try {
    if (!output_.empty()) connection().write_bytes(std::as_bytes(std::span(output_)));
  } catch (const Error&) {  // the peer has left before it was told
  }
  failed_(refusal_.value_or(error));
}

}  // namespace eindb
