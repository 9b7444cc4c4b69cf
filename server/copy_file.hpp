#pragma once

#include "engine/session.hpp"
#include "engine/transfer_directory.hpp"

namespace eindb {

/// Runs `copy`, a COPY of the client's file, which is here for the time being. Throws Error without a place, in which
/// the file has no name.
void run_file_copy(const PreparedStatement& copy, const TransferFile& file, Session& session);

}  // namespace eindb
