#pragma once

#include "engine/files/transfer_directory.hpp"
#include "engine/session.hpp"
#include "server/protocol/message_writer.hpp"

namespace eindb {

/// CopyInResponse ('G') or CopyOutResponse ('H') for a file: one column of bytes.
void write_file_response(MessageWriter& out, char type);

/// Runs `copy`, a COPY of the client's file, which lies here temporarily. Throws Error without a place and without the
/// file's name.
void run_file_copy(const PreparedStatement& copy, const TransferFile& file, Session& session);

}  // namespace eindb
