#include "server/client_channel.hpp"

#include <openssl/ssl3.h>
#include <poll.h>

#include <boost/asio/buffer.hpp>

#include "common/check.hpp"

namespace eindb {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

// The largest TLS record.
constexpr std::size_t kRecordBytes = SSL3_RT_MAX_PLAIN_LENGTH;

ClientChannel::Wait wait_after(const error_code& error, ClientChannel::Wait wait) {
  if (!error) return ClientChannel::Wait::None;
  return error == boost::asio::error::would_block ? wait : ClientChannel::Wait::Never;
}

}  // namespace

void ClientChannel::begin_tls(const TlsContext& context) {
  CHECK(!tls_, "TLS begins once");
  tls_.emplace(socket_.native_handle(), context, TlsSide::Server);
}

ClientChannel::Wait ClientChannel::greet() {
  CHECK(tls_.has_value(), "a channel greets when TLS begins");
  return tls_->greet();
}

ClientChannel::Progress ClientChannel::read(std::span<char> to) {
  CHECK(to.size() >= kRecordBytes, "there is room for what TLS gives at a time");
  Progress progress;
  if (!tls_) {
    error_code error;
    progress.bytes = socket_.read_some(boost::asio::buffer(to.data(), to.size()), error);
    progress.wait = eindb::wait_after(error, Wait::Readable);
    return progress;
  }
  while (progress.wait == Wait::None && to.size() - progress.bytes >= kRecordBytes) {
    const auto more = tls_->read(std::as_writable_bytes(to.subspan(progress.bytes)));
    progress = {progress.bytes + more.bytes, more.wait};
  }
  return progress;
}

ClientChannel::Progress ClientChannel::write(std::string_view bytes) {
  Progress progress;
  while (progress.wait == Wait::None && progress.bytes < bytes.size()) {
    const auto rest = bytes.substr(progress.bytes);
    if (tls_) {
      const auto more = tls_->write(std::as_bytes(std::span(rest)));
      progress = {progress.bytes + more.bytes, more.wait};
    } else {
      error_code error;
      progress.bytes += socket_.write_some(boost::asio::buffer(rest), error);
      progress.wait = eindb::wait_after(error, Wait::Writable);
    }
  }
  return progress;
}

// Also true if earlier bytes are still unread.
bool ClientChannel::has_left() noexcept {
  pollfd asked{.fd = socket_.native_handle(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&asked, 1, 0) > 0;
}

void ClientChannel::end_sending() noexcept {
  if (tls_) tls_->end();
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
}

ClientChannel::Wait ClientChannel::drop(std::span<char> to) {
  error_code error;
  socket_.read_some(boost::asio::buffer(to.data(), to.size()), error);
  return eindb::wait_after(error, Wait::Readable);
}

void ClientChannel::close() noexcept {
  if (tls_) tls_->end();
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
}

}  // namespace eindb
