#include <vector>

#include "engine/results/rows.hpp"
#include "engine/statements/moved_tiles.hpp"
#include "engine/statements/statements.hpp"
#include "engine/statements/tensor_analysis.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"

namespace eindb {

Result execute_statement(const ast::AnalyzeTensor& analyze, SessionState& session) {
  auto& database = session.database;
  const auto admission = session.admit(memory_for_moves(session.user.settings));
  SqliteTransaction transaction(database.connection());
  std::vector<TensorInfo> tensors;
  if (analyze.name) tensors.push_back(database.tensor(*analyze.name));
  else
    for (const auto& name : database.catalog.own_names()) tensors.push_back(database.catalog.get(name));
  for (const auto& tensor : tensors) analyze_tensor(tensor, session);
  transaction.commit();
  return status_result("ANALYZE TENSOR");
}

}  // namespace eindb
