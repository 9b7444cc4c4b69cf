// Arbitrary bytes from a client: the first byte determines the sizes of pieces. Messages are read or refused.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "server/protocol/frontend_message.hpp"
#include "server/protocol/protocol_error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = data[0] + std::size_t{1};
  eindb::FrameReader reader;
  bool in_session = false;
  try {
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      reader.append(bytes.substr(at, piece));
      while (const auto frame = reader.next()) {
        if (in_session) {
          eindb::frontend::parse(*frame);
          continue;
        }
        const auto first = eindb::frontend::parse_first(*frame);
        in_session = std::holds_alternative<eindb::frontend::Startup>(first);
        if (in_session) reader.begin_session();
      }
    }
  } catch (const eindb::ProtocolError&) {  // the connection would end
  }
  return 0;
}
