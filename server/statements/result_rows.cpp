#include "server/statements/result_rows.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "server/rows/cell_row_stream.hpp"
#include "server/rows/tensor_array_stream.hpp"
#include "server/rows/tensor_row_stream.hpp"

namespace eindb {
namespace {

bool same_types(const std::vector<ClientColumn>& a, const std::vector<ClientColumn>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ClientColumn& x, const ClientColumn& y) { return x.type == y.type; });
}

[[noreturn]] void fail_columns() {
  throw Error(ErrorKind::Unsupported, "cached plan must not change result type", std::nullopt, "prepare it again");
}

std::unique_ptr<RowStream> open_array(Portal& portal, Session& session) {
  const auto& result = *portal.result;
  CHECK(!result.columns.empty(), "the last column of a tensor has its values");
  auto columns = whole_tensor_columns(portal.format, result.columns.back().type);
  if (portal.columns.empty()) portal.columns = std::move(columns);
  else if (!same_types(columns, portal.columns)) fail_columns();
  return std::make_unique<TensorArrayStream>(session.strips(result.tensor), portal.format, portal.formats);
}

}  // namespace

void name_types(std::vector<Column>& columns, const Translation& translation) {
  const auto& types = translation.column_types;
  if (types.size() != columns.size()) return;
  for (std::size_t n = 0; n < columns.size(); ++n)
    if (!types[n].empty() && !is_complex(columns[n].type) && columns[n].type != ColumnType::Float32)
      columns[n].declared_type = types[n];
}

std::vector<ClientColumn> described_columns(const StatementDescription& description, ResultFormat format) {
  if (description.gives_tensor && format != ResultFormat::Rows) {
    CHECK(!description.columns.empty(), "the last column of a tensor that is described has its values");
    return whole_tensor_columns(format, description.columns.back().type);
  }
  return client_columns(description.columns);
}

std::unique_ptr<RowStream> open_rows(Portal& portal, Session& session) {
  CHECK(portal.result && portal.result->rows != nullptr, "rows are opened of a statement that gave some");
  CHECK(portal.stream == nullptr, "the rows of a portal are opened once");
  const auto& result = *portal.result;
  if (result.tensor != nullptr && portal.format != ResultFormat::Rows) return open_array(portal, session);
  auto columns = client_columns(result.columns);
  if (result.tensor != nullptr && (portal.columns.empty() || same_types(columns, portal.columns))) {
    portal.columns = std::move(columns);
    return tensor_row_stream(session.strips(result.tensor), portal.formats);
  }
  // Values of types other than the described ones are converted, as far as possible.
  if (!portal.columns.empty() && columns.size() != portal.columns.size()) fail_columns();
  auto stream = std::make_unique<CellRowStream>(*result.rows, portal.columns, portal.formats);
  if (portal.columns.empty()) portal.columns = client_columns(result.columns);
  return stream;
}

}  // namespace eindb
