#include <functional>
#include <variant>
#include <vector>

#include "common/error.hpp"
#include "engine/query/stored_query.hpp"
#include "engine/results/rows.hpp"
#include "engine/statements/constant_value.hpp"
#include "engine/statements/growth.hpp"
#include "engine/statements/index_names_clause.hpp"
#include "engine/statements/moved_tiles.hpp"
#include "engine/statements/statements.hpp"
#include "engine/statements/stored_types.hpp"
#include "engine/statements/views_of_dropped.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"

namespace eindb {
namespace {

// Refuses names that views need: their texts stay as they are.
void rename_where_no_view_reads(SourceSpan place, SessionState& session, const std::function<void()>& rename) {
  std::vector<VisibleTable> queries;
  show_sources_of_views(session, queries);
  ViewsOfDropped views(session, ast::DropBehavior::Restrict, ViewsOfDropped::Change::Renames);
  with_place(place, rename);
  views.settle(place);
}

void change_tensor(const TensorInfo& tensor, const ast::Identifier& new_name, SessionState& session) {
  rename_where_no_view_reads(new_name.span, session,
                             [&] { session.database.catalog.rename(tensor.name, new_name.text); });
}

void change_tensor(const TensorInfo& tensor, const ast::PartitionClause& partition, SessionState& session) {
  const auto grid = with_place(partition.span, [&] { return TileGrid(tensor.grid.shape(), partition.parts); });
  if (grid != tensor.grid) move_tiles(tensor, tensor.type(), grid, tensor.replicas, tensor.names, session);
}

void change_tensor(const TensorInfo& tensor, const ast::ReplicasClause& replicas, SessionState& session) {
  if (tensor.is_temporary())
    throw Error(ErrorKind::Unsupported, "a temporary tensor lies in the session, not at workers", replicas.span,
                "CREATE TENSOR ... AS EINSUM ... makes one of the database");
  const auto copies = session.database.replicas(replicas);
  // Even with an unchanged number of copies: the tiles move to the current workers.
  if (copies > 0 || tensor.is_sharded())
    move_tiles(tensor, tensor.type(), tensor.grid.even(), copies, tensor.names, session);
}

IndexNames::Ptr extended_names(const TensorInfo& tensor, std::size_t d, const ast::NamesClause& clause,
                               SessionState& session) {
  if (const auto before = tensor.names.at(d)) return more_names_of_indices(*before, clause, session);
  throw Error(ErrorKind::Value,
              "the indices of dimension " + tensor.labels[d] + " of " + tensor.name + " have no names", clause.span,
              "write its new extent: EXTEND (" + tensor.labels[d] + " 2000)");
}

void change_tensor(const TensorInfo& tensor, const ast::ExtendClause& extend, SessionState& session) {
  auto extents = tensor.shape().extents();
  auto all_names = tensor.names;
  std::vector<bool> seen(extents.size(), false);
  for (const auto& [dimension, names] : extend.dimensions) {
    const auto& [label, extent, span] = dimension;
    const auto d = dimension_named(tensor, label);
    if (seen[d]) throw Error(ErrorKind::Label, "the label " + label.text + " is given twice", label.span);
    seen[d] = true;
    if (names) {
      all_names.set(d, extended_names(tensor, d, *names, session));
      extents[d] = all_names.at(d)->size();
      continue;
    }
    const auto wanted = whole_number(*extent, 0, "an extent", session.statement.parameters());
    if (wanted < tensor.shape()[d])
      throw Error(ErrorKind::Shape,
                  "dimension " + label.text + " of " + tensor.name + " has extent " +
                      std::to_string(tensor.shape()[d]) + " already, which is more",
                  span,
                  "cells are never taken away; CREATE TENSOR Y AS EINSUM Y[i,j] = " + tensor.name +
                      "[0:10,j] makes a shorter one");
    extents[d] = wanted;
    all_names.set(d, with_place(span, [&] { return grown_names(tensor, d, wanted); }));
  }
  with_place(extend.dimensions.front().dimension.span,
             [&] { return extend_tensor(tensor, extents, all_names, session); });
}

void change_tensor(const TensorInfo& tensor, const ast::LabelRenaming& renaming, SessionState& session) {
  const auto d = dimension_named(tensor, renaming.label);
  rename_where_no_view_reads(renaming.new_name.span, session,
                             [&] { session.database.catalog.rename_label(tensor, d, renaming.new_name.text); });
}

// Values lose digits if the statement asks for that, but neither fractions nor imaginary parts.
void change_tensor(const TensorInfo& tensor, const ast::TypeClause& clause, SessionState& session) {
  const auto type = stored_type_named(clause.type);
  if (type == tensor.type()) return;
  if (!can_hold(type.values, tensor.dtype)) {
    throw Error(ErrorKind::Type,
                std::string(name_of(type)) + " cannot hold the values of " + tensor.name + ", which are " +
                    std::string(name_of(tensor.dtype)),
                clause.type.span,
                is_complex(tensor.dtype)
                    ? "CREATE OR REPLACE TENSOR ... AS EINSUM ... takes REAL, IMAG or ABS of them"
                    : "CREATE OR REPLACE TENSOR ... AS EINSUM ... = CAST(... AS INT64) cuts off fractions");
  }
  with_place(clause.type.span, [&] { move_tiles(tensor, type, tensor.grid, tensor.replicas, tensor.names, session); });
}

}  // namespace

Result execute_statement(const ast::AlterTensor& alter, SessionState& session) {
  const bool moves_tiles = !std::holds_alternative<ast::Identifier>(alter.change) &&
                           !std::holds_alternative<ast::LabelRenaming>(alter.change);
  const auto admission = moves_tiles ? session.admit(memory_for_moves(session.user.settings)) : nullptr;
  SqliteTransaction transaction(session.database.connection());
  const auto tensor = session.database.tensor(alter.name);
  std::visit([&](const auto& change) { change_tensor(tensor, change, session); }, alter.change);
  transaction.commit();
  return status_result("ALTER TENSOR");
}

}  // namespace eindb
