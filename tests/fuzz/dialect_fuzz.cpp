// Fuzzing of the translation of PostgreSQL's SQL with arbitrary bytes. The segments of the result cover its text in
// order, copies are byte for byte, and places lie in the client's text.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "server/dialect/dialect.hpp"

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view statement(reinterpret_cast<const char*>(data), size);
  // Every table has these columns.
  const auto columns = [](const std::string&, const std::string&) {
    using eindb::dialect::Column;
    using eindb::dialect::SqlType;
    return std::optional(std::vector<Column>{{.name = "a", .type = SqlType::Integer, .declared = "int"},
                                             {.name = "s", .type = SqlType::Text, .declared = "varchar(5)"},
                                             {.name = "d", .type = SqlType::Date, .declared = "date"},
                                             {.name = "x", .type = SqlType::Any}});
  };
  eindb::Translation translation;
  try {
    translation = eindb::translate_dialect(statement, columns);
  } catch (const eindb::Error& error) {
    expect(!error.span() || error.span()->end <= statement.size());
    return 0;
  }
  const auto text = translation.text_of(statement);
  std::size_t end = 0;
  for (const auto& segment : translation.segments) {
    expect(segment.begin >= end && segment.begin <= text.size());
    expect(segment.original_begin <= segment.original_end && segment.original_end <= statement.size());
    end = segment.begin;
    if (!segment.is_copy) continue;
    const auto length = segment.original_end - segment.original_begin;
    expect(text.substr(segment.begin, length) == statement.substr(segment.original_begin, length));
    end += length;
  }
  for (std::size_t begin = 0; begin < text.size(); begin += 1 + text.size() / 64) {
    const auto place = translation.original({begin, begin + 1});
    expect(place.begin <= place.end && place.end <= statement.size());
  }
  return 0;
}
