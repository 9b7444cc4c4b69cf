#include "engine/statements/update_statement.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "engine/query/pipeline.hpp"
#include "engine/results/rows.hpp"
#include "engine/statements/statements.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"
#include "storage/tiles/read_snapshot.hpp"

namespace eindb {

std::vector<TensorInfo> updated_tensors(const ast::Updates& updates, OpenDatabase& database) {
  std::vector<TensorInfo> tensors;
  for (const auto& definition : updates.definitions) {
    tensors.push_back(database.tensor(definition.name));
    const auto is_same = [&](const TensorInfo& other) { return other.name == tensors.back().name; };
    if (std::any_of(tensors.begin(), std::prev(tensors.end()), is_same))
      throw Error(ErrorKind::DuplicateName, "the tensor " + tensors.back().name + " is given twice",
                  definition.name.span);
  }
  return tensors;
}

ResultRequest update_request(const std::vector<TensorInfo>& tensors) {
  ResultRequest request{.stored = true};
  for (const auto& tensor : tensors) request.partitions.emplace_back(tensor.grid.partition());
  return request;
}

// The tensors keep their entries in the catalog, so no cache of rows or plans is invalidated.
Result execute_statement(const ast::UpdateTensor& update, SessionState& session) {
  auto result = status_result("UPDATE TENSOR");
  SqliteTransaction transaction(session.database.connection());
  {
    ReadSnapshot snapshot(session.database.file, static_cast<std::size_t>(session.user.settings.threads()));
    const auto tensors = updated_tensors(std::get<ast::Updates>(update.query.body), session.database);
    for (const auto& tensor : tensors) session.check_right(tensor, Right::Update);
    const auto planned = plan_query(update.query, session, update_request(tensors));
    CHECK(planned.result_count() == tensors.size(), "every tensor that is updated gets a result");
    std::vector<StoredResult> results;
    for (const auto& tensor : tensors) {
      const auto n = results.size();
      CHECK(planned.output(n).dtype == tensor.dtype && planned.result_grid(n) == tensor.grid,
            "new values have the type and the tiles of the tensor that they are for");
      results.push_back({tensor, true});
      result.rows_changed = checked_add(result.rows_changed, tensor.grid.shape().element_count());
    }
    store_query(planned, session, snapshot, results);
  }
  transaction.commit();
  return result;
}

}  // namespace eindb
