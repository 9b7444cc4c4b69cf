#pragma once

#include <string_view>

#include "common/error.hpp"
#include "server/protocol/message_writer.hpp"

namespace eindb {

/// An ErrorResponse: what a statement did wrong, with its remedy, and with its place in `text`, the statement as the
/// client wrote it.
void write_error(MessageWriter& out, std::string_view sqlstate, const Error& error, std::string_view text);
/// What ends the connection. `hint` may be empty.
void write_fatal(MessageWriter& out, std::string_view sqlstate, std::string_view message, std::string_view hint = {});

}  // namespace eindb
