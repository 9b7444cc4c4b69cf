#include "server/copy/copy_binary_decoder.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "server/protocol/big_endian.hpp"
#include "tests/server/copy_rows.hpp"

namespace eindb {
namespace {

using namespace std::string_literals;

const std::string kSignature = "PGCOPY\n\xff\r\n\0"s;

std::string header(std::uint32_t flags, std::int32_t length, const std::string& extension = {}) {
  auto out = kSignature;
  append_big_endian(out, flags);
  append_big_endian(out, length);
  return out + extension;
}

std::string row(const std::vector<std::optional<std::string>>& fields) {
  std::string out;
  append_big_endian(out, static_cast<std::int16_t>(fields.size()));
  for (const auto& field : fields) {
    append_big_endian(out, field ? static_cast<std::int32_t>(field->size()) : -1);
    out += field.value_or("");
  }
  return out;
}

std::string field_of(std::int32_t length) {
  auto out = "\0\2"s;
  append_big_endian(out, length);
  return out;
}

void expect(const std::string& bytes, const std::string& expected) {
  const auto format = CopyFormatOptions::of(CopyFormat::Binary);
  for (std::size_t piece = 1; piece <= bytes.size() + 1; ++piece)
    EXPECT_EQ(decoded(format, {"a", "b"}, bytes, piece), expected) << "in pieces of " << piece;
}

// Compared with PostgreSQL 15, with "COPY t" as the context if it gives none.
TEST(CopyBinaryDecoder, Headers) {
  expect("", "COPY file signature not recognized (COPY t)");
  expect("PGCOP", "COPY file signature not recognized (COPY t)");
  expect(std::string(20, 'x'), "COPY file signature not recognized (COPY t)");
  expect(kSignature, "invalid COPY file header (missing flags) (COPY t)");
  expect(kSignature + "\0\0\0\0\0"s, "invalid COPY file header (missing length) (COPY t)");
  expect(header(1U << 16U, 0), "invalid COPY file header (WITH OIDS) (COPY t)");
  expect(header(1U << 17U, 0), "unrecognized critical flags in COPY file header (COPY t)");
  expect(header(1U << 31U, 0), "unrecognized critical flags in COPY file header (COPY t)");
  expect(header(0, -1), "invalid COPY file header (missing length) (COPY t)");
  expect(header(0, 5, "abc"), "invalid COPY file header (wrong length) (COPY t)");
  expect(header(0, 2147483647, "abc"), "invalid COPY file header (wrong length) (COPY t)");
  expect(header(0, 0), "");
  expect(header(1, 3, "abc") + row({"x", "y"}), "[x][y]\n");
}

TEST(CopyBinaryDecoder, Rows) {
  const auto begin = header(0, 0);
  expect(begin + "\xff\xff", "");
  expect(begin + row({"a", "bc"}) + row({std::nullopt, ""}) + "\xff\xff", "[a][bc]\n[NULL][]\n");
  expect(begin + row({"a", "b"}), "[a][b]\n");
  expect(begin + row({"a", "b"}) + "\xff\xffx", "[a][b]\nreceived copy data after EOF marker (COPY t, line 2)");
  expect(begin + row({"a"}), "row field count is 1, expected 2 (COPY t, line 1)");
  expect(begin + row({"a", "b", "c"}), "row field count is 3, expected 2 (COPY t, line 1)");
  expect(begin + "\xff\xfe", "row field count is -2, expected 2 (COPY t, line 1)");
  expect(begin + row({"a", "b"}).substr(0, 11), "unexpected EOF in COPY data (COPY t, line 1, column b)");
  expect(begin + row({"a", "b"}).substr(0, 4), "unexpected EOF in COPY data (COPY t, line 1, column a)");
  expect(begin + row({"a", "b"}) + "\0"s, "[a][b]\nunexpected EOF in COPY data (COPY t, line 2)");
}

TEST(CopyBinaryDecoder, Lengths) {
  const auto begin = header(0, 0);
  expect(begin + field_of(-2), "invalid field size (COPY t, line 1, column a)");
  expect(begin + field_of(-2147483647 - 1), "invalid field size (COPY t, line 1, column a)");
  expect(begin + field_of(2147483647),
         "a row is longer than the 1073741823 bytes that it may have (COPY t, line 1, column a)");
  const auto limited = [&](std::size_t most) {
    return decoded(*make_copy_decoder(CopyFormatOptions::of(CopyFormat::Binary), {"t", {"a", "b"}}, most),
                   begin + row({"abc", "def"}), 1);
  };
  EXPECT_EQ(limited(16), "[abc][def]\n");
  EXPECT_EQ(limited(15), "a row is longer than the 15 bytes that it may have (COPY t, line 1, column b)");
}

TEST(CopyBinaryDecoder, ErrorsInAField) {
  CopyBinaryDecoder decoder({"t", {"a", "b"}}, kMostCopyRowBytes);
  decoder.append(header(0, 0) + row({"a", "b"}) + row({"c", "d"}));
  const Error cause(ErrorKind::Value, "wrong");
  ASSERT_NE(decoder.next(), nullptr);
  EXPECT_EQ(decoder.error_in(1, cause).context(), "COPY t, line 1, column b");
  ASSERT_NE(decoder.next(), nullptr);
  EXPECT_EQ(decoder.error_in(0, cause).context(), "COPY t, line 2, column a");
}

}  // namespace
}  // namespace eindb
