#include "cluster/handshake_task.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace eindb {
namespace {

constexpr std::chrono::milliseconds kRefusalDelay{1000};

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
      failed_(std::move(failed)) {}

void HandshakeTask::step() {
  if (refusal_) return;
  if (!has_begun_ && !begin()) return;
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

// TLS, until there is nothing to wait for.
bool HandshakeTask::begin() {
  if (!is_encrypting_) {
    expire_after(time_, "the connection to " + connection().peer() + " said nothing for too long");
    if (credentials_.tls != nullptr)
      connection().begin_tls(*credentials_.tls, side_ == Handshake::Side::Accepts ? TlsSide::Server : TlsSide::Client);
    is_encrypting_ = true;
  }
  if (credentials_.tls != nullptr)
    if (const auto wait = connection().greet(); wait != Wait::None) {
      step_when(wait);
      return false;
    }
  handshake_.emplace(side_, credentials_.secret, self_, connection().channel_binding());
  has_begun_ = true;
  return true;
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
  std::array<std::byte, Handshake::kMostMessage> buffer{};
  const auto progress = read(std::span(buffer).first(std::min(handshake_->wanted(), buffer.size())));
  if (progress.wait != Wait::None) {
    step_when(progress.wait);
    return false;
  }
  is_answered_ = true;
  handshake_->receive(std::span(buffer).first(progress.bytes));
  return true;
}

// Who expects TLS gives no answer to those who begin without.
SocketProgress HandshakeTask::read(std::span<std::byte> to) {
  try {
    return connection().read_bytes(to);
  } catch (const Error& error) {
    if (side_ == Handshake::Side::Accepts || credentials_.tls != nullptr || is_answered_) throw;
    throw Error(error.kind(), error.message() + " without an answer, as a node does that expects TLS");
  }
}

// What is told goes at once, as far as the socket takes it: nobody waits for those who are refused.
void HandshakeTask::refuse(const Error& error) {
  if (side_ == Handshake::Side::Connects || error.kind() != ErrorKind::Permission) return end(error);
  refusal_ = error;
  expire_after(kRefusalDelay, error.message());
}

void HandshakeTask::failed(const Error& error) {
  if (handshake_) output_ += handshake_->take_output();
  try {
    if (!output_.empty()) connection().write_bytes(std::as_bytes(std::span(output_)));
  } catch (const Error&) {  // it has gone before it was told
  }
  failed_(refusal_.value_or(error));
}

}  // namespace eindb
