#pragma once

#include <cstddef>
#include <string_view>

#include "common/error.hpp"
#include "server/protocol/message_writer.hpp"

namespace eindb {

/// An ErrorResponse: what a statement did wrong, with its remedy, and with its place in `text`, what the client wrote;
/// the statement that the error speaks of begins at `offset` there.
void write_error(MessageWriter& out, const Error& error, std::string_view text, std::size_t offset = 0);
/// What ends the connection. `hint` may be empty.
void write_fatal(MessageWriter& out, std::string_view sqlstate, std::string_view message, std::string_view hint = {});

}  // namespace eindb
