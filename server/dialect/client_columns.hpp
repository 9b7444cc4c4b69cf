#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/dialect/names.hpp"
#include "engine/session.hpp"

namespace eindb {

/// The columns of a table, view, tensor or query as a session knows them, with the types that the dialect gives them;
/// nullopt if there is none.
std::optional<std::vector<dialect::Column>> columns_for_client(Session& session, const std::string& schema,
                                                               const std::string& table);

}  // namespace eindb
