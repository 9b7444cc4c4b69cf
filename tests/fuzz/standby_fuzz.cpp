// Arbitrary bytes as what a coordinator sends to a standby: a log's header, and frames of 512 bytes and more.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "common/error.hpp"
#include "storage/sqlite/write_ahead_log.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto header = bytes.first(std::min(size, eindb::kLogHeaderBytes));
  try {
    eindb::LogChain chain(header);
    auto rest = bytes.subspan(header.size());
    while (rest.size() >= chain.frame_bytes()) {
      const auto before = chain.place();
      const auto frame = rest.first(chain.frame_bytes());
      const bool is_next = chain.take(frame);
      if (!is_next && chain.place() != before) std::abort();
      if (is_next && (chain.place().frames != before.frames + 1 || !chain.is_of_log(frame) ||
                      chain.place().checksum != eindb::LogChain::checksum_in(frame)))
        std::abort();
      if (!is_next) break;
      rest = rest.subspan(chain.frame_bytes());
    }
    if (chain.take(rest)) std::abort();
  } catch (const eindb::Error&) {  // the coordinator would be told
  }
  return 0;
}
