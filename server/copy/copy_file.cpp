#include "server/copy/copy_file.hpp"

#include <string>

#include "common/check.hpp"
#include "common/error.hpp"
#include "server/protocol/frontend_message.hpp"

namespace eindb {

void write_file_response(MessageWriter& out, char type) {
  constexpr auto kFormat = static_cast<std::int16_t>(frontend::Format::Binary);
  out.begin(type).integer(static_cast<std::int8_t>(kFormat)).integer<std::int16_t>(1).integer(kFormat).end();
}

void run_file_copy(const PreparedStatement& copy, const TransferFile& file, Session& session) {
  CHECK(!file.path().empty(), "the client's file has a place here");
  try {
    session.execute(copy, {.parameters = {}, .tensors = {}, .file = file.path()});
  } catch (const Error& error) {
    auto message = error.message();
    for (auto at = message.find(file.path()); at != std::string::npos; at = message.find(file.path()))
      message.replace(at, file.path().size(), "the client's file");
    throw Error(error.kind(), std::move(message), std::nullopt, error.hint());
  }
}

}  // namespace eindb
