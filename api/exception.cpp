#include <array>

#include "api/translation.hpp"

namespace eindb {
namespace {

static_assert(static_cast<int>(ErrorKind::Internal) == static_cast<int>(ErrorCode::Internal) &&
                  static_cast<int>(ErrorKind::Value) == static_cast<int>(ErrorCode::Value),
              "codes are the kinds of the engine, in its order");

ErrorCode code_of(ErrorKind kind) { return static_cast<ErrorCode>(kind); }

}  // namespace

std::string_view library_version() noexcept { return EINDB_VERSION; }

std::string_view to_string(ErrorCode code) noexcept { return describe(static_cast<ErrorKind>(code)); }

std::string_view to_string(ElementType type) noexcept {
  static constexpr std::array<std::string_view, 5> kNames{"FLOAT32", "FLOAT64", "COMPLEX64", "COMPLEX128", "INT64"};
  const auto n = static_cast<std::size_t>(type);
  return n < kNames.size() ? kNames[n] : "?";
}

Exception::Exception(const std::string& text, Details details)
    : std::runtime_error(text), details_(std::make_shared<const Details>(std::move(details))) {}

Exception::~Exception() = default;

void throw_exception(const Error& error, std::string_view text, std::size_t offset) {
  Exception::Details details{.code = code_of(error.kind()), .message = error.message(), .hint = error.hint()};
  std::optional<SourceSpan> span;
  if (error.span()) {
    span = SourceSpan{error.span()->begin + offset, error.span()->end + offset};
    const auto place = locate(text, span->begin);
    details.line = place.line;
    details.column = place.column;
  }
  throw Exception(render(Error(error.kind(), error.message(), span, error.hint()), text), std::move(details));
}

}  // namespace eindb
