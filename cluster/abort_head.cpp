// The head of a frame Abort: rank (2 bytes), number of the error's kind (1), bytes of the message (2), message, hint.

#include "cluster/abort_head.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "cluster/frame.hpp"
#include "common/byte_order.hpp"

namespace eindb {
namespace {

constexpr std::size_t kKindOffset = 2;
constexpr std::size_t kSizeOffset = 3;
constexpr std::size_t kTextOffset = 5;
constexpr std::size_t kMostMessage = 380;
constexpr std::size_t kMostHint = kMostFrameHead - kTextOffset - kMostMessage;

// The numbers are part of the protocol: never reuse one.
constexpr std::array kKinds{
    ErrorKind::Syntax,      ErrorKind::UnknownName, ErrorKind::DuplicateName, ErrorKind::Label,
    ErrorKind::Shape,       ErrorKind::Type,        ErrorKind::Value,         ErrorKind::NullValue,
    ErrorKind::Unsupported, ErrorKind::Io,          ErrorKind::Corrupt,       ErrorKind::ReadOnly,
    ErrorKind::Busy,        ErrorKind::Conflict,    ErrorKind::Cancelled,     ErrorKind::MemoryLimit,
    ErrorKind::WorkerLost,  ErrorKind::Permission,  ErrorKind::Sql,           ErrorKind::Internal};

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void append(std::vector<std::byte>& head, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  head.insert(head.end(), bytes.begin(), bytes.end());
}

}  // namespace

std::vector<std::byte> write_abort_head(const AbortCause& cause) {
  const auto message = cause.error.message().substr(0, kMostMessage);
  const auto kind = std::find(kKinds.begin(), kKinds.end(), cause.error.kind()) - kKinds.begin();
  std::vector<std::byte> head(kTextOffset);
  store_number(head, 0, cause.origin);
  store_number(head, kKindOffset, static_cast<std::uint8_t>(kind));
  store_number(head, kSizeOffset, static_cast<std::uint16_t>(message.size()));
  append(head, message);
  append(head, cause.error.hint().substr(0, kMostHint));
  return head;
}

std::optional<AbortCause> read_abort_head(std::span<const std::byte> head) {
  if (head.size() < kTextOffset) return std::nullopt;
  const auto kind = load_number<std::uint8_t>(head, kKindOffset);
  const auto size = load_number<std::uint16_t>(head, kSizeOffset);
  const auto texts = head.subspan(kTextOffset);
  if (kind >= kKinds.size() || size > texts.size()) return std::nullopt;
  return AbortCause{load_number<Rank>(head, 0),
                    Error(kKinds[kind], text_of(texts.first(size)), std::nullopt, text_of(texts.subspan(size)))};
}

}  // namespace eindb
