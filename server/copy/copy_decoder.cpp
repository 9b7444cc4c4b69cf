#include "server/copy/copy_decoder.hpp"

#include <utility>

#include "common/check.hpp"
#include "server/copy/copy_binary_decoder.hpp"
#include "server/copy/copy_line_decoder.hpp"

namespace eindb {

std::unique_ptr<CopyDecoder> make_copy_decoder(const CopyFormatOptions& options, CopyTarget target,
                                               std::size_t most_row_bytes) {
  CHECK(!target.columns.empty(), "rows that come have a column at least");
  if (options.format == CopyFormat::Binary)
    return std::make_unique<CopyBinaryDecoder>(std::move(target), most_row_bytes);
  return std::make_unique<CopyLineDecoder>(options, std::move(target), most_row_bytes);
}

}  // namespace eindb
