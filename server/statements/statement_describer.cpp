#include "server/statements/statement_describer.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "server/statements/command_runner.hpp"
#include "server/statements/in_own_words.hpp"
#include "server/statements/result_rows.hpp"
#include "server/values/data_type.hpp"

namespace eindb {
namespace {

// The most parameters that a Bind message can count.
constexpr std::size_t kMostParameters = 65535;

}  // namespace

// The statement determines the types that the client leaves open.
void StatementDescriber::find_parameter_types(ClientStatement& statement, const std::vector<std::int32_t>& stated) {
  if (statement.prepared == nullptr || statement.prepared->parameter_count == 0) return;
  if (statement.prepared->parameter_count > kMostParameters)
    throw CodedError("54023", ErrorKind::Value,
                     "a statement has at most " + std::to_string(kMostParameters) + " parameters");
  auto& types = statement.parameter_types;
  CHECK(types.empty(), "the types of a statement's parameters are found once");
  for (const auto type : stated) types.push_back(static_cast<DataType>(type));
  types.resize(statement.prepared->parameter_count, DataType::Unspecified);
  for (const auto& [number, type] : statement.translation.parameter_types)
    if (number > 0 && number <= types.size() && types[number - 1] == DataType::Unspecified) types[number - 1] = type;
  if (std::find(types.begin(), types.end(), DataType::Unspecified) == types.end()) return;
  const auto description = describe(statement);
  CHECK(description.parameters.size() >= types.size(), "a description has the types of all parameters");
  for (std::size_t n = 0; n < types.size(); ++n)
    if (types[n] == DataType::Unspecified) types[n] = data_type(description.parameters[n]);
  keep_columns(statement, description);
}

const std::vector<ClientColumn>& StatementDescriber::columns_of(ClientStatement& statement) {
  if (statement.columns) return *statement.columns;
  StatementDescription description;
  if (statement.prepared != nullptr) description = describe(statement);
  else if (statement.command) description.columns = command_columns(*statement.command, client_);
  return keep_columns(statement, description);
}

const std::vector<ClientColumn>& StatementDescriber::keep_columns(ClientStatement& statement,
                                                                  const StatementDescription& description) const {
  CHECK(!statement.columns, "the columns of a statement stay as they were described");
  statement.format = client_.parameters.result_format();
  if (statement.cursor) return statement.columns.emplace();  // the rows come by FETCH
  if (statement.explained) return statement.columns.emplace(client_columns(plan_columns(*statement.explained)));
  return statement.columns.emplace(described_columns(description, statement.format));
}

StatementDescription StatementDescriber::describe(const ClientStatement& statement) {
  DCHECK(statement.prepared != nullptr, "what is described was prepared");
  std::vector<ColumnType> parameters;
  for (const auto type : statement.parameter_types) parameters.push_back(column_type(type));
  auto description =
      in_own_words(client_, statement, [&] { return client_.session().describe(*statement.prepared, parameters); });
  name_types(description.columns, statement.translation);
  return description;
}

}  // namespace eindb
