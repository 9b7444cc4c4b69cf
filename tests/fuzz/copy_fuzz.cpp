// Arbitrary bytes as a COPY ... FROM STDIN statement and its rows: the first byte determines the sizes of pieces, and
// the first line is the statement. If it is a COPY of rows, its options apply to the rows; otherwise they are read in
// each format. Rows are read or refused, independently of the pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server/copy/copy_decoder.hpp"
#include "server/copy/copy_statement.hpp"

namespace {

constexpr std::size_t kMostRowBytes = 256;
const std::vector<std::string> kColumns{"a", "b"};

/// The rows read before one is refused, and whether one is.
struct Outcome {
  std::string rows;
  bool refused = false;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

void take_rows(eindb::CopyDecoder& decoder, std::string& out) {
  while (const auto* row = decoder.next()) {
    if (row->size() != kColumns.size()) std::abort();
    for (const auto& field : *row) out.append(field ? "=" : "NULL").append(field.value_or("")).append(1, '\0');
  }
}

Outcome outcome_of(const eindb::CopyFormatOptions& options, std::string_view bytes, std::size_t piece) {
  const auto decoder = eindb::make_copy_decoder(options, {"t", kColumns}, kMostRowBytes);
  Outcome outcome;
  try {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
      decoder->append(bytes.substr(0, piece));
      take_rows(*decoder, outcome.rows);
    }
    decoder->finish();
    take_rows(*decoder, outcome.rows);
  } catch (const eindb::CopyError&) {  // the statement would fail
    outcome.refused = true;
  }
  return outcome;
}

void read_rows(const eindb::CopyFormatOptions& options, std::string_view bytes, std::size_t piece) {
  try {
    const auto whole = outcome_of(options, bytes, bytes.size());
    if (outcome_of(options, bytes, piece) != whole) std::abort();
  } catch (const eindb::Error&) {  // options name an unknown column
  }
}

std::optional<eindb::CopyFormatOptions> options_of(std::string_view statement) {
  try {
    const auto copy = eindb::parse_copy_statement(statement);
    if (!copy) return std::nullopt;
    if (const auto* file = std::get_if<eindb::CopyStatement::File>(&copy->format)) {
      eindb::copy_of_file(statement, *file, "x");
      return std::nullopt;
    }
    return std::get<eindb::CopyFormatOptions>(copy->format);
  } catch (const eindb::Error&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = data[0] + std::size_t{1};
  const auto line = std::min(bytes.find('\n'), bytes.size());
  if (const auto options = options_of(bytes.substr(0, line))) {
    read_rows(*options, bytes.substr(std::min(line + 1, bytes.size())), piece);
    return 0;
  }
  using eindb::CopyFormat;
  for (const auto format : {CopyFormat::Text, CopyFormat::Csv, CopyFormat::Binary})
    read_rows(eindb::CopyFormatOptions::of(format), bytes, piece);
  return 0;
}
