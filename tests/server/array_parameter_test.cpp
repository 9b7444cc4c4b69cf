#include "server/values/array_parameter.hpp"

#include <gtest/gtest.h>

#include "common/error.hpp"
#include "server/protocol/protocol_error.hpp"

namespace eindb {
namespace {

using namespace std::string_literals;

const auto kOids = "\0\0\0\1\0\0\0\0\0\0\0\x1a\0\0\0\2\0\0\0\1\0\0\0\4\0\0\3\xf8\0\0\0\4\0\0\3\xfe"s;

TEST(ArrayParameter, IsTextToSql) {
  EXPECT_EQ(read_binary_array(kOids, DataType::OidArray), "{1016,1022}");
  EXPECT_EQ(read_binary_array("\0\0\0\0\0\0\0\0\0\0\0\x14"s, DataType::Int8Array), "{}");
  EXPECT_EQ(
      read_binary_array("\0\0\0\1\0\0\0\1\0\0\0\x19\0\0\0\2\0\0\0\1\xff\xff\xff\xff\0\0\0\3a b"s, DataType::TextArray),
      "{NULL,\"a b\"}");
}

TEST(ArrayParameter, RefusesWhatIsNone) {
  for (std::size_t size = 0; size < kOids.size(); ++size)
    EXPECT_THROW(read_binary_array(kOids.substr(0, size), DataType::OidArray), ProtocolError) << size;
  EXPECT_THROW(read_binary_array(kOids + "x", DataType::OidArray), ProtocolError);
  EXPECT_THROW(read_binary_array(kOids, DataType::Int8Array), ProtocolError);
  auto more = kOids;
  more[12] = '\x7f';
  EXPECT_THROW(read_binary_array(more, DataType::OidArray), ProtocolError);
  auto square = kOids;
  square[3] = '\2';
  EXPECT_THROW(read_binary_array(square, DataType::OidArray), Error);
}

}  // namespace
}  // namespace eindb
