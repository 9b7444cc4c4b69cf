#include "executor/rank_error.hpp"

#include <new>
#include <string>

namespace eindb {

Error error_of_rank(std::string_view rank, const std::exception_ptr& error) {
  const auto told = [&](ErrorKind kind, std::string_view message, std::string hint) {
    return Error(kind, std::string(rank) + ": " + std::string(message), std::nullopt, std::move(hint));
  };
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    return told(e.kind(), e.message(), e.hint());
  } catch (const std::bad_alloc&) {
    return told(ErrorKind::MemoryLimit, "the system has no more memory", {});
  } catch (const std::exception& e) {
    return told(ErrorKind::Internal, e.what(), {});
  }
}

}  // namespace eindb
