#include "engine/statements/update_statement.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "engine/query/pipeline.hpp"
#include "engine/query/region_writer.hpp"
#include "engine/query/result_store.hpp"
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

ResultRequest update_request(const ast::Updates& updates, const std::vector<TensorInfo>& tensors) {
  CHECK(updates.regions.size() == tensors.size(), "every tensor that is updated has a region, or none");
  ResultRequest request{.stored = updates.are_whole()};
  for (std::size_t n = 0; n < tensors.size(); ++n) {
    if (updates.regions[n].cells.empty()) request.partitions.emplace_back(tensors[n].grid.partition());
    else request.partitions.emplace_back();
  }
  return request;
}

namespace {

// Values of regions are written over their tensors' cells once all of them are there.
void store_parts(const PlannedQuery& planned, SessionState& session, ReadSnapshot& snapshot,
                 const std::vector<TensorInfo>& tensors) {
  auto& connection = session.database.connection();
  auto tiles = collect(planned, session, snapshot);
  std::vector<const BoundRegion*> regions(tensors.size(), nullptr);
  for (const auto& region : planned.query.regions) regions.at(region.result) = &region;
  RegionWriter writer(planned, tiles, session);
  for (std::size_t n = 0; n < tensors.size(); ++n) {
    if (regions[n] != nullptr) {
      writer.write(*regions[n], {tensors[n], true});
    } else {
      write_result(connection, {tensors[n], true}, tiles[n]->held());
    }
  }
}

}  // namespace

// The tensors keep their entries in the catalog, so no cache of rows or plans is invalidated.
Result execute_statement(const ast::UpdateTensor& update, SessionState& session) {
  auto result = status_result("UPDATE TENSOR");
  SqliteTransaction transaction(session.database.connection());
  {
    ReadSnapshot snapshot(session.database.file, static_cast<std::size_t>(session.user.settings.threads()));
    const auto& updates = std::get<ast::Updates>(update.query.body);
    const auto tensors = updated_tensors(updates, session.database);
    for (const auto& tensor : tensors) session.check_right(tensor, Right::Update);
    const auto planned = plan_query(update.query, session, update_request(updates, tensors));
    CHECK(planned.result_count() >= tensors.size(), "every tensor that is updated gets a result");
    std::vector<StoredResult> results;
    for (const auto& tensor : tensors) {
      const auto n = results.size();
      CHECK(planned.output(n).dtype == tensor.dtype, "new values have the type of the tensor that they are for");
      CHECK(!updates.regions[n].cells.empty() || planned.result_grid(n) == tensor.grid.even(),
            "new contents have the tiles of the tensor that they are for");
      results.push_back({tensor, true});
      result.rows_changed = checked_add(result.rows_changed, planned.result_grid(n).shape().element_count());
    }
    if (updates.are_whole()) store_query(planned, session, snapshot, results);
    else store_parts(planned, session, snapshot, tensors);
  }
  transaction.commit();
  return result;
}

}  // namespace eindb
