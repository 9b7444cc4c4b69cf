#pragma once

#include <cstddef>
#include <string_view>

#include "common/error.hpp"
#include "server/protocol/message_writer.hpp"

namespace eindb {

/// Writes an ErrorResponse for a statement, with its remedy and its place in `text`, the client's message. The
/// statement of the error begins at `offset`.
void write_error(MessageWriter& out, const Error& error, std::string_view text, std::size_t offset = 0);
/// Writes an error that ends the connection. `hint` may be empty.
void write_fatal(MessageWriter& out, std::string_view sqlstate, std::string_view message, std::string_view hint = {});

}  // namespace eindb
