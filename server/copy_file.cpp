#include "server/copy_file.hpp"

#include <string>

#include "common/error.hpp"

namespace eindb {

void run_file_copy(const PreparedStatement& copy, const TransferFile& file, Session& session) {
  try {
    session.execute(copy, {.parameters = {}, .tensors = {}, .file = file.path()});
  } catch (const Error& error) {
    auto message = error.message();
    for (auto at = message.find(file.path()); at != std::string::npos; at = message.find(file.path()))
      message.replace(at, file.path().size(), "what the client sent");
    throw Error(error.kind(), std::move(message), std::nullopt, error.hint());
  }
}

}  // namespace eindb
