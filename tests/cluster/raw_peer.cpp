#include "tests/cluster/raw_peer.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace eindb {

RawPeer::RawPeer(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const timeval patience{.tv_sec = 5, .tv_usec = 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const int yes = 1;
  ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

bool RawPeer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool RawPeer::send_bytewise(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [&](const char& byte) { return send({&byte, 1}); });
}

bool RawPeer::is_closed() {
  std::array<char, 4096> buffer{};
  while (true) {
    const auto count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (count == 0) return true;
    if (count < 0) return errno == ECONNRESET;
  }
}

std::string RawPeer::read(std::size_t count) {
  if (count == 0) return "";
  std::string bytes(count, '\0');
  const auto received = ::recv(socket_.get(), bytes.data(), count, MSG_WAITALL);
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(received, 0)));
  EXPECT_EQ(bytes.size(), count) << "the node has closed the connection";
  return bytes;
}

void RawPeer::authenticate(const ClusterSecret& secret, ConnectionPurpose purpose, std::size_t piece) {
  Handshake handshake(Handshake::Side::Connects, secret, {.purpose = purpose, .node = "raw"});
  while (!handshake.is_done()) {
    const auto output = handshake.take_output();
    for (std::size_t n = 0; n < output.size(); n += piece) send(std::string_view(output).substr(n, piece));
    const auto bytes = read(handshake.wanted());
    if (::testing::Test::HasFailure()) return;
    handshake.receive(std::as_bytes(std::span(bytes)));
  }
  sealer_.emplace(handshake.keys().sending);
  opener_.emplace(handshake.keys().receiving);
}

std::string RawPeer::frame(const FrameHeader& header, std::string_view head, std::string_view payload) {
  const auto sealed = sealer_->seal(header, std::as_bytes(std::span(head)), std::as_bytes(std::span(payload)));
  return std::string(reinterpret_cast<const char*>(sealed.data()), sealed.size()) + std::string(head) +
         std::string(payload);
}

FrameHeader RawPeer::receive_frame() {
  FrameHeaderBytes bytes{};
  const auto text = read(bytes.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  const auto head = read(FrameOpener::head_size(bytes));
  return opener_->open(bytes, std::as_bytes(std::span(head)));
}

}  // namespace eindb
