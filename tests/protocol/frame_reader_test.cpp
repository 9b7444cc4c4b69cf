#include "server/protocol/frame_reader.hpp"

#include <gtest/gtest.h>

#include <string>

#include "server/protocol/big_endian.hpp"
#include "server/protocol/protocol_error.hpp"

namespace eindb {
namespace {

std::string message(char type, const std::string& body) {
  std::string bytes(1, type);
  append_big_endian(bytes, static_cast<std::int32_t>(body.size() + 4));
  return bytes + body;
}

FrameReader in_session() {
  FrameReader reader;
  reader.begin_session();
  return reader;
}

TEST(FrameReader, MessagesComeInPiecesOfAnySize) {
  const auto bytes = message('Q', "SELECT 1") + message('S', "") + message('Q', "x");
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    auto reader = in_session();
    std::string seen;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      reader.append(std::string_view(bytes).substr(at, piece));
      while (const auto frame = reader.next()) seen += frame->type + std::string(frame->body) + ";";
    }
    EXPECT_EQ(seen, "QSELECT 1;S;Qx;") << piece;
    EXPECT_EQ(reader.pending(), 0U);
  }
}

TEST(FrameReader, TheFirstMessageHasNoType) {
  FrameReader reader;
  std::string bytes;
  append_big_endian<std::int32_t>(bytes, 8);
  append_big_endian<std::int32_t>(bytes, 80877103);
  reader.append(bytes + "rest");
  const auto frame = reader.next();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->type, 0);
  EXPECT_EQ(frame->body.size(), 4U);
  EXPECT_EQ(reader.pending(), 4U);
}

TEST(FrameReader, LengthsAreRefusedBeforeTheirBytesCome) {
  for (const std::int32_t length : {-1, 0, 3, -2147483647}) {
    auto reader = in_session();
    std::string bytes = "Q";
    append_big_endian(bytes, length);
    reader.append(bytes);
    EXPECT_THROW(reader.next(), ProtocolError) << length;
  }
  auto reader = in_session();
  reader.limit(100);
  reader.append(message('Q', std::string(100, 'x')));
  EXPECT_TRUE(reader.next());
  std::string bytes = "Q";
  append_big_endian<std::int32_t>(bytes, 105);
  reader.append(bytes);
  try {
    reader.next();
    FAIL();
  } catch (const ProtocolError& error) {
    EXPECT_EQ(error.sqlstate(), "54000");
  }
}

TEST(FrameReader, AFirstMessageIsShort) {
  FrameReader reader;
  std::string bytes;
  append_big_endian<std::int32_t>(bytes, 0x7FFFFFFF);
  reader.append(bytes);
  EXPECT_THROW(reader.next(), ProtocolError);
}

TEST(FrameReader, IsReadyWhenAllOfAMessageIsThere) {
  auto reader = in_session();
  const auto bytes = message('Q', "SELECT 1");
  for (const char byte : bytes) {
    EXPECT_FALSE(reader.ready());
    reader.append({&byte, 1});
  }
  EXPECT_TRUE(reader.ready());
  EXPECT_TRUE(reader.next());
  EXPECT_FALSE(reader.ready());
  reader.append(message('Q', std::string(FrameReader::kMostStartupBytes + 1, 'x')).substr(0, 5));
  EXPECT_TRUE(reader.ready()) << "to refuse it";
  EXPECT_THROW(reader.next(), ProtocolError);
}

TEST(FrameReader, MessagesWithoutValuesAreSmall) {
  for (const char type : {'Q', 'P', 'B', 'd', 'S', 'X', 'c'}) {
    auto reader = in_session();
    reader.limit(1 << 20);
    reader.append(message(type, std::string(FrameReader::kMostStartupBytes + 1, 'x')));
    if (type == 'S' || type == 'X' || type == 'c') {
      EXPECT_THROW(reader.next(), ProtocolError) << type;
    } else {
      EXPECT_TRUE(reader.next()) << type;
    }
  }
}

}  // namespace
}  // namespace eindb
