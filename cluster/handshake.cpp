// A message of the handshake. Its first 12 bytes are the same in all versions, and so are refusals.
//
//     offset  size  field
//          0     4  magic "EINH"
//          4     2  protocol version, little-endian
//          6     1  type: Hello 1, Challenge 2, Proof 3, Accept 4, Refusal 5
//          7     1  zero
//          8     4  bytes of the body, little-endian
//         12        body: Hello      nonce of 32 bytes, purpose, name
//                         Challenge  nonce of 32 bytes, name
//                         Proof      32 bytes
//                         Accept     32 bytes
//                         Refusal    number of the reason, text

#include "cluster/handshake.hpp"

#include <algorithm>
#include <utility>

#include "cluster/byte_text.hpp"
#include "common/byte_order.hpp"
#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

constexpr std::string_view kHandshakeMagic = "EINH";
constexpr std::string_view kTls = "\x16\x03";  // a handshake's record, of any version
constexpr std::size_t kHandshakeVersionOffset = 4;
constexpr std::size_t kHandshakeTypeOffset = 6;
constexpr std::size_t kHandshakeZeroOffset = 7;
constexpr std::size_t kHandshakeSizeOffset = 8;
constexpr std::size_t kNonceBytes = 32;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// Names and reasons appear in logs and in messages to users.
std::string printable(std::string_view text) {
  std::string result(text);
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return result;
}

}  // namespace

Handshake::Handshake(Side side, const ClusterSecret& secret, Introduction self, std::string channel_binding,
                     std::uint16_t version)
    : side_(side),
      secret_(secret.key()),
      self_(std::move(self)),
      channel_binding_(std::move(channel_binding)),
      version_(version),
      stage_(side == Side::Connects ? Stage::Challenge : Stage::Hello) {
  if (side == Side::Accepts) return;
  send(Type::Hello, own_introduction());
  transcript_ = output_;
}

std::string Handshake::take_output() { return std::exchange(output_, {}); }

std::string Handshake::own_introduction() const {
  auto body = random_bytes(kNonceBytes);
  if (side_ == Side::Connects) body += static_cast<char>(self_.purpose);
  return body + self_.node.substr(0, Introduction::kMostName);
}

std::string Handshake::message(Type type, std::string_view body) const {
  CHECK(body.size() <= kMostMessage - kHeadBytes, "a message of a handshake is small");
  std::string bytes(kHeadBytes, '\0');
  const auto head = std::as_writable_bytes(std::span(bytes));
  std::copy(kHandshakeMagic.begin(), kHandshakeMagic.end(), bytes.begin());
  store_number(head, kHandshakeVersionOffset, version_);
  store_number(head, kHandshakeTypeOffset, static_cast<std::uint8_t>(type));
  store_number(head, kHandshakeSizeOffset, static_cast<std::uint32_t>(body.size()));
  return bytes += body;
}

void Handshake::send(Type type, const std::string& body) { output_ += message(type, body); }

void Handshake::receive(std::span<const std::byte> bytes) {
  CHECK(bytes.size() <= wanted(), "a handshake takes what it asked for");
  try {
    received_ += as_text(bytes);
    if (received_.size() == kHeadBytes && needed_ == kHeadBytes) read_head();
    if (received_.size() == needed_) read_message();
  } catch (...) {
    stage_ = Stage::Failed;
    throw;
  }
}

void Handshake::read_head() {
  const auto head = bytes_of(received_);
  if (received_.starts_with(kTls))
    throw Error(ErrorKind::Corrupt, "the other side begins with TLS, for which this node was given no certificate");
  if (!received_.starts_with(kHandshakeMagic))
    throw Error(ErrorKind::Corrupt, "the other side is no node of a cluster");
  const bool is_refusal =
      side_ == Side::Connects && static_cast<Type>(received_[kHandshakeTypeOffset]) == Type::Refusal;
  if (!is_refusal) check_version(load_number<std::uint16_t>(head, kHandshakeVersionOffset));
  const auto size = load_number<std::uint32_t>(head, kHandshakeSizeOffset);
  if (size > kMostMessage - kHeadBytes || head[kHandshakeZeroOffset] != std::byte{0})
    refuse(Reason::Malformed, "a message of the handshake is malformed");
  needed_ = kHeadBytes + size;
}

void Handshake::check_version(std::uint16_t version) {
  if (version == version_) return;
  refuse(Reason::Version, "one node speaks version " + std::to_string(version_) +
                              " of the cluster's protocol, the other version " + std::to_string(version));
}

void Handshake::read_message() {
  const auto bytes = std::exchange(received_, {});
  CHECK(bytes.size() >= kHeadBytes, "a message of a handshake has a head");
  const auto body = bytes_of(bytes).subspan(kHeadBytes);
  needed_ = kHeadBytes;
  const auto type = static_cast<Type>(bytes[kHandshakeTypeOffset]);
  if (type == Type::Refusal && side_ == Side::Connects) read_refusal(body);
  switch (stage_) {
    case Stage::Hello:
      expect(Type::Hello, type);
      read_introduction(body, true);
      send(Type::Challenge, own_introduction());
      transcript_ = bytes + output_;
      stage_ = Stage::Proof;
      return;
    case Stage::Challenge:
      expect(Type::Challenge, type);
      read_introduction(body, false);
      transcript_ += bytes;
      send(Type::Proof, std::string(proof("connects").view()));
      stage_ = Stage::Accept;
      return;
    case Stage::Proof:
      expect(Type::Proof, type);
      read_proof(body, "connects");
      send(Type::Accept, std::string(proof("accepts").view()));
      break;
    default:
      expect(Type::Accept, type);
      read_proof(body, "accepts");
      break;
  }
  stage_ = Stage::Done;
}

void Handshake::expect(Type expected, Type type) {
  if (type != expected) refuse(Reason::Malformed, "a message of the handshake is not the one expected");
}

void Handshake::read_introduction(std::span<const std::byte> body, bool has_purpose) {
  const std::size_t fixed = kNonceBytes + (has_purpose ? 1 : 0);
  if (body.size() < fixed || body.size() > fixed + Introduction::kMostName)
    refuse(Reason::Malformed, "an introduction is malformed");
  peer_ = {self_.purpose, printable(as_text(body.subspan(fixed)))};
  if (!has_purpose) return;
  peer_.purpose = static_cast<ConnectionPurpose>(body[kNonceBytes]);
  if (peer_.purpose != ConnectionPurpose::Control && peer_.purpose != ConnectionPurpose::Data)
    refuse(Reason::Malformed, "a connection is for nothing that is known");
}

/// The proof of the side named by `label`.
Digest Handshake::proof(std::string_view label) const {
  CHECK(!transcript_.empty(), "a proof covers what both sides have said");
  return hmac_sha256(secret_.view(),
                     std::string(label) + "\n" + std::string(sha256(transcript_).view()) + channel_binding_);
}

void Handshake::read_proof(std::span<const std::byte> body, std::string_view label) {
  if (body.size() != Digest::kBytes) refuse(Reason::Malformed, "a proof is malformed");
  if (!equal_in_constant_time(Digest::of(as_text(body)), proof(label)))
    refuse(Reason::Secret, "the nodes do not have the same secret");
}

void Handshake::read_refusal(std::span<const std::byte> body) const {
  if (body.empty()) throw Error(ErrorKind::Corrupt, "a refusal is malformed");
  const auto text = printable(as_text(body.subspan(1)));
  switch (static_cast<Reason>(body[0])) {
    case Reason::Version: throw Error(ErrorKind::Unsupported, text, std::nullopt, "all nodes run the same version");
    case Reason::Secret:
      throw Error(ErrorKind::Permission, text, std::nullopt, "all nodes are given the same --secret-file");
    case Reason::PlainText:
      throw Error(ErrorKind::Permission, text, std::nullopt, "give it a certificate, as all nodes of the cluster have");
    default: throw Error(ErrorKind::Corrupt, text);
  }
}

std::string Handshake::refusal_of_plain_text() {
  const Handshake nobody(Side::Accepts, ClusterSecret(), {});
  return nobody.message(Type::Refusal, static_cast<char>(Reason::PlainText) +
                                           std::string("the node expects TLS, and this one begins without"));
}

// Only an accepting side tells the other side, which waits for an answer.
void Handshake::refuse(Reason reason, const std::string& text) {
  const std::string body = static_cast<char>(reason) + text;
  if (side_ == Side::Accepts) send(Type::Refusal, body);
  read_refusal(bytes_of(body));
}

ConnectionKeys Handshake::keys() const {
  CHECK(is_done(), "a connection has keys after its handshake");
  auto session = proof("session");
  const auto connecting = hmac_sha256(session.view(), "from the side that connects");
  const auto accepting = hmac_sha256(session.view(), "from the side that accepts");
  wipe(session);
  return side_ == Side::Connects ? ConnectionKeys{connecting, accepting} : ConnectionKeys{accepting, connecting};
}

}  // namespace eindb
