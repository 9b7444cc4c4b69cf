// The head of a frame Abort: rank (2 bytes), number of the error's kind (1), bytes of the message (2), message, hint.

#include "cluster/abort_head.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "cluster/byte_text.hpp"
#include "cluster/frame.hpp"
#include "common/byte_order.hpp"

namespace eindb {
namespace {

constexpr std::size_t kErrorKindOffset = 2;
constexpr std::size_t kMessageSizeOffset = 3;
constexpr std::size_t kTextOffset = 5;
constexpr std::size_t kMostMessage = 380;
constexpr std::size_t kMostHint = kMostFrameHead - kTextOffset - kMostMessage;

// The numbers are part of the protocol: never reuse one.
constexpr std::array kErrorKinds{
    ErrorKind::Syntax,      ErrorKind::UnknownName, ErrorKind::DuplicateName, ErrorKind::Label,
    ErrorKind::Shape,       ErrorKind::Type,        ErrorKind::Value,         ErrorKind::NullValue,
    ErrorKind::Unsupported, ErrorKind::Io,          ErrorKind::Corrupt,       ErrorKind::ReadOnly,
    ErrorKind::Busy,        ErrorKind::Conflict,    ErrorKind::Cancelled,     ErrorKind::MemoryLimit,
    ErrorKind::WorkerLost,  ErrorKind::Permission,  ErrorKind::Sql,           ErrorKind::Internal};

}  // namespace

std::vector<std::byte> write_abort_head(const AbortCause& cause) {
  const auto message = cause.error.message().substr(0, kMostMessage);
  const auto kind = std::find(kErrorKinds.begin(), kErrorKinds.end(), cause.error.kind()) - kErrorKinds.begin();
  const auto hint = cause.error.hint().substr(0, kMostHint);
  std::vector<std::byte> head(kTextOffset + message.size() + hint.size());
  store_number(head, 0, cause.origin);
  store_number(head, kErrorKindOffset, static_cast<std::uint8_t>(kind));
  store_number(head, kMessageSizeOffset, static_cast<std::uint16_t>(message.size()));
  const auto rest = std::ranges::copy(std::as_bytes(std::span(message)), head.begin() + kTextOffset).out;
  std::ranges::copy(std::as_bytes(std::span(hint)), rest);
  return head;
}

std::optional<AbortCause> read_abort_head(std::span<const std::byte> head) {
  if (head.size() < kTextOffset) return std::nullopt;
  const auto kind = load_number<std::uint8_t>(head, kErrorKindOffset);
  const auto size = load_number<std::uint16_t>(head, kMessageSizeOffset);
  const auto texts = head.subspan(kTextOffset);
  if (kind >= kErrorKinds.size() || size > texts.size()) return std::nullopt;
  return AbortCause{load_number<Rank>(head, 0), Error(kErrorKinds[kind], std::string(as_text(texts.first(size))),
                                                      std::nullopt, std::string(as_text(texts.subspan(size))))};
}

}  // namespace eindb
