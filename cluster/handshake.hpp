#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cluster/cluster_secret.hpp"
#include "cluster/frame.hpp"
#include "common/check.hpp"
#include "security/digest.hpp"

namespace eindb {

/// The purpose of a connection.
enum class ConnectionPurpose : std::uint8_t {
  Control = 1,  ///< a Channel
  Data = 2      ///< tiles of a sequence of statements
};

/// How a node introduces itself.
struct Introduction {
  static constexpr std::size_t kMostName = 128;

  ConnectionPurpose purpose = ConnectionPurpose::Control;  ///< as stated by the side that connects
  std::string node;                                        ///< for messages and logs: "10.0.0.3:7700", "coordinator"
};

/// The keys of the two directions of a connection. No other connection has the same ones.
struct ConnectionKeys {
  Digest sending;
  Digest receiving;
};

/// The beginning of a connection. Both sides state their protocol version and prove, as in SCRAM, that they know the
/// cluster's secret without revealing it. The side that connects proves it first, so that strangers who connect get
/// nothing to guess from.
///
///     connects: Hello      nonce, purpose, name       accepts: Challenge  nonce, name
///               Proof      HMAC(secret, "connects", both messages)
///                                                              Accept     HMAC(secret, "accepts", both messages)
///                                                       or at any time:   Refusal  reason
///
/// Converts input bytes to output bytes, without a socket; buffers at most kMostMessage bytes. Not thread-safe.
class Handshake {
 public:
  enum class Side : std::uint8_t { Connects, Accepts };
  static constexpr std::size_t kHeadBytes = 12;
  static constexpr std::size_t kMostMessage = 512;

  /// `channel_binding` is that of the TLS connection, equal on both sides; empty without TLS. `version` differs only in
  /// tests.
  Handshake(Side side, const ClusterSecret& secret, Introduction self, std::string channel_binding = {},
            std::uint16_t version = kClusterProtocolVersion);

  /// The number of bytes to receive next; 0 once the handshake is done.
  std::size_t wanted() const {
    CHECK(received_.size() <= needed_, "no more of a message is there than it has");
    return stage_ == Stage::Done ? 0 : needed_ - received_.size();
  }
  /// Takes at most wanted() bytes. After an exception the caller sends take_output() and closes the connection. Throws
  /// Error{Unsupported} for another version, Error{Permission} if one side does not know the secret, Error{Corrupt} for
  /// malformed messages.
  void receive(std::span<const std::byte> bytes);
  /// The bytes to send.
  std::string take_output();

  /// The answer of a node with TLS to a peer that begins without TLS.
  static std::string refusal_of_plain_text();

  bool is_done() const { return stage_ == Stage::Done; }
  /// The other side's introduction, once the handshake is done.
  const Introduction& peer() const { return peer_; }
  ConnectionKeys keys() const;

 private:
  // Named after the message expected next.
  enum class Stage : std::uint8_t { Hello, Challenge, Proof, Accept, Done, Failed };
  enum class Type : std::uint8_t { Hello = 1, Challenge = 2, Proof = 3, Accept = 4, Refusal = 5 };
  enum class Reason : std::uint8_t { Version = 1, Secret = 2, Malformed = 3, PlainText = 4 };

  void read_head();
  void read_message();
  void check_version(std::uint16_t version);
  void expect(Type expected, Type type);
  void read_introduction(std::span<const std::byte> body, bool has_purpose);
  void read_proof(std::span<const std::byte> body, std::string_view label);
  [[noreturn]] void read_refusal(std::span<const std::byte> body) const;
  [[noreturn]] void refuse(Reason reason, const std::string& text);
  std::string message(Type type, std::string_view body) const;
  void send(Type type, const std::string& body);
  Digest proof(std::string_view label) const;
  std::string own_introduction() const;

  const Side side_;
  const Digest secret_;
  const Introduction self_;
  const std::string channel_binding_;
  const std::uint16_t version_;
  Stage stage_;
  std::size_t needed_ = kHeadBytes;
  std::string received_;  // of the current message
  std::string output_;
  std::string transcript_;  // Hello and Challenge
  Introduction peer_;
};

}  // namespace eindb
