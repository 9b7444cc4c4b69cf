// Fuzzing of all code that reads the text of statements; tests/fuzz/parser.dict is its dictionary. Only Error may be
// thrown, with a span within the text that can be displayed.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/error.hpp"
#include "parser/parser.hpp"
#include "parser/statement_outline.hpp"
#include "parser/statement_splitter.hpp"

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

/// Runs a parser over the text; an Error must be a syntax error with its place in the text.
template <class Parse>
void try_parse(Parse parse, std::string_view text) {
  try {
    parse(text);
  } catch (const eindb::Error& error) {
    expect(error.kind() == eindb::ErrorKind::Syntax && error.span().has_value());
    expect(error.span()->begin <= error.span()->end && error.span()->end <= text.size());
    expect(!eindb::render(error, text).empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  eindb::outline_of(text);
  try_parse([](std::string_view t) { return eindb::count_parameters(eindb::parse_statement(t), t); }, text);
  try_parse([](std::string_view t) { return eindb::parse_expression(t); }, text);
  std::size_t end = 0;
  for (const auto& statement : eindb::split_statements(text)) {
    expect(statement.offset >= end && !statement.text.empty());
    expect(text.substr(statement.offset, statement.text.size()) == statement.text);
    end = statement.offset + statement.text.size();
    try_parse([](std::string_view t) { return eindb::parse_statement(t); }, statement.text);
  }
  eindb::is_complete(text);
  return 0;
}
