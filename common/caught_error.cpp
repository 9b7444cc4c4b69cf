#include "common/caught_error.hpp"

#include <exception>
#include <new>
#include <string>
#include <system_error>

namespace eindb {
namespace {

Error lacking(const std::system_error& error) {
  const std::string reason = error.code().message();
  if (error.code() == std::errc::resource_unavailable_try_again) {
    return {
        ErrorKind::Io, "cannot start a thread: " + reason, std::nullopt,
        "raise the number of processes that the system allows (ulimit -u, the container's limit), or SET threads = 1"};
  }
  return {ErrorKind::Io, error.what(), std::nullopt, "the operating system refused; try again when it has room"};
}

}  // namespace

Error out_of_memory(std::string_view what) {
  return {
      ErrorKind::MemoryLimit, "the machine has no memory left for " + std::string(what), std::nullopt,
      "end what else takes memory, or raise the limit that this process is under; with a lower memory_limit less is "
      "tried"};
}

Error caught_error(std::string_view what) {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return out_of_memory(what);
  } catch (const std::system_error& error) {
    return lacking(error);
  } catch (const std::exception& error) {
    return {ErrorKind::Internal, error.what(), std::nullopt, "this is a bug in eindb; the database is unchanged"};
  }
}

}  // namespace eindb
