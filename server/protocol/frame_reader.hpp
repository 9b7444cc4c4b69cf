#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/check.hpp"
#include "server/protocol/shared_bytes.hpp"

namespace eindb {

/// A message: its type and its body, without its length.
struct Frame {
  char type = 0;  ///< 0 in messages before the session, which have no type
  std::string_view body;
};

/// Divides the bytes of one client into messages.
///
///     first:       int32 length, body            SSLRequest, CancelRequest, StartupMessage, ...
///     afterwards:  byte type, int32 length, body length counts itself, but not the type
///
/// A length is checked before memory is allocated for it, and memory grows only with the bytes received. Without an
/// incomplete message the reader holds no memory, so thousands of waiting connections cost little. Not thread-safe.
class FrameReader {
 public:
  /// The limit for the first messages, which have only names and options.
  static constexpr std::size_t kMostStartupBytes = 10000;

  /// Sets the limit for the bytes of later messages; larger ones are refused. It should be lower before login. Messages
  /// that contain at most a name are limited to kMostStartupBytes.
  void limit(std::size_t bytes) { limit_ = bytes; }
  /// Counts large messages in `account`, from the time their length is known until the next message is requested. A
  /// message that exceeds the account's remaining bytes is refused.
  void count_in(std::shared_ptr<SharedBytes> account) { account_ = std::move(account); }
  /// Call when the session begins: later messages have types.
  void begin_session() {
    CHECK(!typed_, "messages have types from one moment on");
    typed_ = true;
  }

  void append(std::string_view bytes);
  /// Whether next() would return a message or throw, so that no worker is used for an incomplete message.
  bool ready() const;
  /// The next message, if it is complete; its body is valid until append() or next(). Throws ProtocolError for an
  /// invalid length (08P01), a length beyond the limit (54000), or one beyond the account's remaining bytes (53200).
  std::optional<Frame> next();

  /// The type of the next message, once its first byte is received. Only in the session.
  std::optional<char> next_type() const { return pending() == 0 ? std::nullopt : std::optional(buffer_[begin_]); }
  /// Number of bytes received that belong to no returned message.
  std::size_t pending() const { return buffer_.size() - begin_; }
  /// Discards the pending bytes.
  void clear();

 private:
  std::size_t limit_here() const;
  std::size_t head_bytes() const;
  std::int32_t length() const;
  void drop_read();
  void count_message();

  std::string buffer_;
  std::size_t begin_ = 0;  // of the bytes not returned by next()
  std::size_t limit_ = kMostStartupBytes;
  bool typed_ = false;
  std::shared_ptr<SharedBytes> account_;  // null: messages are not counted
  BytesTaken taken_;                      // for the incomplete message, or the one returned last
  bool given_ = false;                    // taken_ is for the message returned last
  bool refused_ = false;
};

}  // namespace eindb
