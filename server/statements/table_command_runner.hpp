#pragma once

#include "engine/results/result.hpp"
#include "server/statements/client_state.hpp"
#include "server/statements/table_command.hpp"

namespace eindb {

/// Runs the command in the client's transaction, or in one of its own that ends with the next Sync, and returns its
/// tag as status. Throws Error for unknown tables, for rows that a new constraint does not take, and for a command
/// that is not possible now. Called by the client's thread.
Result run_table_command(const command::DropTables& drop, ClientState& client);
Result run_table_command(const command::TruncateTables& truncate, ClientState& client);
Result run_table_command(const command::Vacuum& vacuum, ClientState& client);
Result run_table_command(const command::LockTables& lock, ClientState& client);
Result run_table_command(const command::AddConstraint& add, ClientState& client);
Result run_table_command(const command::AddColumns& add, ClientState& client);
Result run_table_command(const command::AlterColumn& alter, ClientState& client);

}  // namespace eindb
