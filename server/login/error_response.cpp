#include "server/login/error_response.hpp"

#include <algorithm>
#include <string>

#include "common/check.hpp"
#include "engine/statement_text.hpp"
#include "server/copy/copy_error.hpp"
#include "server/login/sqlstate.hpp"

namespace eindb {
namespace {

MessageWriter& begin(MessageWriter& out, std::string_view severity, std::string_view sqlstate, std::string_view message,
                     std::string_view hint) {
  out.begin('E').bytes("S").text(severity).bytes("V").text(severity).bytes("C").text(sqlstate).bytes("M");
  out.text(replace_invalid_utf8(message));  // it can quote bytes of a value
  if (!hint.empty()) out.bytes("H").text(replace_invalid_utf8(hint));
  return out;
}

}  // namespace

void write_error(MessageWriter& out, const Error& error, std::string_view text, std::size_t offset) {
  CHECK(offset <= text.size(), "a statement begins in the message that it came in");
  begin(out, "ERROR", sqlstate_of(error), error.message(), error.hint());
  if (const auto* copied = dynamic_cast<const CopyError*>(&error))
    out.bytes("W").text(replace_invalid_utf8(copied->context()));
  if (error.span() && error.span()->begin <= text.size() - offset) {
    const auto before = text.substr(0, offset + error.span()->begin);
    const auto characters = std::count_if(before.begin(), before.end(), [](char c) { return (c & 0xC0) != 0x80; });
    out.bytes("P").text(std::to_string(characters + 1));
  }
  out.text("").end();
}

void write_fatal(MessageWriter& out, std::string_view sqlstate, std::string_view message, std::string_view hint) {
  begin(out, "FATAL", sqlstate, message, hint).text("").end();
}

}  // namespace eindb
