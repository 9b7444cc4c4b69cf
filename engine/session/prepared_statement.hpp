#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace eindb {

namespace ast {
struct Statement;
}
struct QueryKey;

/// PREPARE name AS statement. Immutable; independent of any session.
struct PreparedStatement {
  std::string name;
  std::string text;
  std::size_t parameter_count = 0;
  std::vector<std::string> types = {};  ///< that PREPARE states of the parameters, as CREATE TABLE names them
  std::shared_ptr<const ast::Statement> statement;  ///< with places in `text`
  std::shared_ptr<const QueryKey> key = {};         ///< if the statement is a query: its key (engine/plans/query_key)
};

}  // namespace eindb
