#include "executor/rank_error.hpp"

#include <string>

#include "common/caught_error.hpp"

namespace eindb {

Error error_of_rank(std::string_view rank, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (...) {
    const auto cause = caught_error("its part of the statement");
    return {cause.kind(), std::string(rank) + ": " + cause.message(), std::nullopt, cause.hint()};
  }
}

}  // namespace eindb
