#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/check.hpp"
#include "server/protocol/shared_bytes.hpp"

namespace eindb {

/// A message without its length: what kind it is and its body.
struct Frame {
  char type = 0;  ///< 0 before the session has begun, where messages have no type
  std::string_view body;
};

/// Cuts the bytes of one client into messages.
///
///     first:       int32 length, body            SSLRequest, CancelRequest, StartupMessage, ...
///     afterwards:  byte type, int32 length, body length counts itself, but not the type
///
/// A length is checked before memory is taken for it, and memory grows only with bytes that have come. Where no message
/// is half there, none is held: thousands of connections that wait cost little. Not thread-safe.
class FrameReader {
 public:
  /// Of the first messages: names and options.
  static constexpr std::size_t kMostStartupBytes = 10000;

  /// Bytes that a message may have from now on; larger ones are refused. Lower before a client is known. Messages that
  /// hold nothing but a name, or nothing, have kMostStartupBytes at most.
  void limit(std::size_t bytes) { limit_ = bytes; }
  /// Large messages count, from when their length is known until the next one is asked for: what is not left is
  /// refused.
  void count_in(std::shared_ptr<SharedBytes> account) { account_ = std::move(account); }
  /// From now on messages have types.
  void begin_session() {
    CHECK(!typed_, "messages have types from one moment on");
    typed_ = true;
  }

  void append(std::string_view bytes);
  /// Whether next() would give a message, or throw: so that nobody works for half of one.
  bool ready() const;
  /// The next message, if all of it is there; its body is valid until append() or next(). Throws ProtocolError for a
  /// length that no message has (08P01), one beyond the limit (54000), or one that the account has not left (53200).
  std::optional<Frame> next();

  /// The type of the message that next() would give, as soon as its first byte is there; in the session.
  std::optional<char> next_type() const { return pending() == 0 ? std::nullopt : std::optional(buffer_[begin_]); }
  /// Bytes that have come and belong to no message yet.
  std::size_t pending() const { return buffer_.size() - begin_; }
  /// Forgets them.
  void clear();

 private:
  std::size_t limit_here() const;
  std::size_t head_bytes() const;
  std::int32_t length() const;
  void drop_read();
  void count_message();

  std::string buffer_;
  std::size_t begin_ = 0;  // of what next() has not given
  std::size_t limit_ = kMostStartupBytes;
  bool typed_ = false;
  std::shared_ptr<SharedBytes> account_;  // null: nobody counts
  BytesTaken taken_;                      // for the message that is there in part, or was given last
  bool given_ = false;                    // the latter
  bool refused_ = false;
};

}  // namespace eindb
