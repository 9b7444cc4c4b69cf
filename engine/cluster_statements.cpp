#include "common/error.hpp"
#include "engine/rows.hpp"
#include "engine/statements.hpp"

namespace eindb {

Result execute_statement(const ast::ShowWorkers&, SessionState&) {
  return listed_result({{"address", ColumnType::Text}, {"state", ColumnType::Text}}, {});
}

Result execute_statement(const ast::DrainWorker& drain, SessionState&) {
  throw Error(ErrorKind::UnknownName, "this session has no worker " + drain.address, drain.span,
              "start eindb with --workers");
}

}  // namespace eindb
