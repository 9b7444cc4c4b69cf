#include "server/values/result_format.hpp"

namespace eindb {

std::optional<ResultFormat> parse_result_format(std::string_view name) {
  if (name == "rows") return ResultFormat::Rows;
  if (name == "array") return ResultFormat::Array;
  if (name == "npy") return ResultFormat::Npy;
  return std::nullopt;
}

}  // namespace eindb
