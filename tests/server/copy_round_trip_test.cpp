#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "server/copy/copy_encoder.hpp"
#include "server/values/value_format.hpp"
#include "tests/server/copy_rows.hpp"

namespace eindb {
namespace {

// All texts that a format or option below treats specially, and multi-byte characters.
constexpr std::string_view kPieces[] = {"\\", "\"", "'",   ",",    ";",    "\t", "|",        "\n",
                                        "\r", "N",  "\\N", "\\.",  "x",    "1",  ".",        "-",
                                        "\b", "\f", "\v",  "\x01", "NULL", " ",  "\xc3\xa4", "\xf0\x9f\x98\x80"};

class RandomRows {
 public:
  explicit RandomRows(unsigned seed) : random_(seed) {}

  Cell text() {
    if (below(6) == 0) return {};
    std::string out;
    for (auto pieces = below(6); pieces > 0; --pieces) out += kPieces[below(std::size(kPieces))];
    return out;
  }
  Cell number() {
    switch (below(4)) {
      case 0: return {};
      case 1: return std::ldexp(static_cast<double>(random_()), static_cast<int>(below(600)) - 300);
      case 2: return -static_cast<double>(below(100)) / 8;
      default: return static_cast<double>(below(3)) / 0.0;
    }
  }
  std::size_t below(std::size_t limit) { return random_() % limit; }

 private:
  std::mt19937 random_;
};

void expect_same(const Cell& cell, const CopyField& field, frontend::Format format) {
  ASSERT_EQ(std::holds_alternative<std::monostate>(cell), !field.has_value());
  if (const auto* text = std::get_if<std::string>(&cell)) {
    EXPECT_EQ(*field, *text);
  } else if (const auto* number = std::get_if<double>(&cell)) {
    const auto value = std::get<double>(read_value(*field, DataType::Float8, format));
    EXPECT_TRUE(value == *number || (std::isnan(value) && std::isnan(*number))) << value << " " << *number;
  }
}

void round_trip(std::string_view options, unsigned seed) {
  RandomRows random(seed);
  const std::size_t width = 1 + random.below(4);
  std::vector<CopyColumn> columns;
  CopyTarget target{"t", {}};
  for (std::size_t n = 0; n < width; ++n) {
    target.columns.push_back("c," + std::to_string(n));
    columns.push_back({target.columns.back(), n % 2 == 0 ? DataType::Text : DataType::Float8, CopyColumn::Part::Whole});
  }
  std::vector<Row> rows(1 + random.below(8), Row(width));
  for (auto& row : rows)
    for (std::size_t n = 0; n < width; ++n) row[n] = n % 2 == 0 ? random.text() : random.number();

  CopyEncoder encoder(copy_format(options, CopySide::ToClient), columns);
  MessageWriter bytes;
  encoder.begin(bytes);
  for (const auto& row : rows) encoder.row(bytes, row);
  encoder.end(bytes);

  auto from = copy_format(options, CopySide::FromClient);
  if (from.header == CopyHeader::Present) from.header = CopyHeader::Match;
  const auto format = from.format == CopyFormat::Binary ? frontend::Format::Binary : frontend::Format::Text;
  const auto decoder = make_copy_decoder(from, target);
  std::size_t read = 0;
  const auto check_rows = [&] {
    for (; const auto* row = decoder->next(); ++read) {
      ASSERT_LT(read, rows.size());
      for (std::size_t n = 0; n < width; ++n) expect_same(rows[read][n], (*row)[n], format);
    }
  };
  const auto piece = 1 + random.below(20);
  for (auto rest = std::string_view(bytes.buffer()); !rest.empty(); rest.remove_prefix(std::min(piece, rest.size()))) {
    decoder->append(rest.substr(0, piece));
    check_rows();
  }
  decoder->finish();
  check_rows();
  EXPECT_EQ(read, rows.size());
}

TEST(CopyRoundTrip, RandomRowsComeBack) {
  for (const auto* options : {"", "(header)", "(delimiter '|')", "(delimiter '-', null 'none')", "csv", "csv header",
                              "csv escape '\\'", "csv delimiter ';' quote ''''", "csv null 'NULL'",
                              "csv null '1' delimiter E'\\t'", "(format csv, header, escape 'x')", "binary"}) {
    SCOPED_TRACE(options);
    for (unsigned seed = 0; seed < 200 && !::testing::Test::HasFailure(); ++seed) {
      SCOPED_TRACE(seed);
      round_trip(options, seed);
    }
  }
}

}  // namespace
}  // namespace eindb
