#include "sqlite/einsum_call.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "sqlite/einsum_operand.hpp"

namespace eindb_sqlite {
namespace {

/// Elements of an array that a table is read into: 1 GiB of values.
constexpr std::int64_t kMostElements = std::int64_t{1} << 27U;
/// Of more elements than this an array is made only where more than one in kCellShare has a row.
constexpr std::int64_t kSmallArray = std::int64_t{1} << 20U;
constexpr std::int64_t kCellShare = 16;

constexpr std::string_view kLargeHint =
    "\n  hint: make a tensor of it, which holds only what is not zero: "
    "SELECT eindb_exec('CREATE TENSOR X (i 1000, j 1000) AS SELECT i, j, val FROM table')";

struct Subscripts {
  std::vector<std::string> terms;
  std::optional<std::string> result;
};

Subscripts parse(const std::string& text) {
  std::string plain;
  for (const char c : text)
    if (c != ' ') plain += c;
  Subscripts parsed;
  const auto arrow = plain.find("->");
  if (arrow != std::string::npos) parsed.result = plain.substr(arrow + 2);
  parsed.terms.emplace_back();
  for (const char c : plain.substr(0, arrow)) {
    if (c == ',') parsed.terms.emplace_back();
    else parsed.terms.back() += c;
  }
  return parsed;
}

/// One reading of the operands, from their names to arrays.
class EinsumCall {
 public:
  EinsumCall(Database& database, FileStatePtr state, const std::string& subscripts,
             const std::vector<std::string>& names)
      : database_(database), state_(std::move(state)), subscripts_(subscripts) {
    const auto parsed = parse(subscripts);
    if (parsed.terms.size() != names.size()) {
      throw HostError("the subscripts '" + subscripts + "' are for " + std::to_string(parsed.terms.size()) +
                      " operands, and there are " + std::to_string(names.size()));
    }
    for (std::size_t n = 0; n < names.size(); ++n) {
      auto& operand = operands_.emplace_back();
      operand.text = names[n];
      operand.term = parsed.terms[n];
      take_extents(operand);
    }
  }

  eindb::QueryResult run(bool without_zeros) {
    for (auto& operand : operands_) find(operand);
    needs_file_ =
        std::any_of(operands_.begin(), operands_.end(), [](const EinsumOperand& each) { return each.is_stored; });
    for (auto& operand : operands_)
      if (!operand.is_stored) read_rows(database_.host(), operand);
    for (auto& operand : operands_) note_extents(operand);
    for (auto& operand : operands_)
      if (!operand.is_stored) fill(operand);
    return execute(without_zeros);
  }

 private:
  eindb::Connection& file() { return state_ == nullptr ? database_.reading() : state_->connection(); }
  void find(EinsumOperand& operand);
  void note_extents(const EinsumOperand& operand);
  void note_extent(const std::string& label, std::int64_t extent, const std::string& of);
  std::int64_t extent_of(const EinsumOperand& operand, std::size_t dimension) const;
  void fill(EinsumOperand& operand);
  std::string free_name() const;
  eindb::QueryResult execute(bool without_zeros);
  eindb::QueryResult execute_in(eindb::Connection& connection, bool without_zeros);

  struct Extent {
    std::int64_t value = 0;
    bool is_fixed = false;  // by a tensor, or given
    std::string of;
  };

  Database& database_;
  FileStatePtr state_;
  std::string subscripts_;
  std::vector<EinsumOperand> operands_;
  std::map<std::string, Extent> extents_;  // by label
  std::optional<std::vector<std::string>> tensors_;
  bool needs_file_ = false;  // for operands that are tensors of it
};

/// The schema before a name, if there is one: main.A.
std::optional<std::string> table_source(sqlite3* host, const std::string& text) {
  if (has_table(host, text)) return quoted(text);
  const auto dot = text.find('.');
  if (dot == std::string::npos) return std::nullopt;
  const auto schema = text.substr(0, dot);
  HostStatement schemas(host, "SELECT name FROM pragma_database_list");
  while (schemas.step())
    if (equal_names(schemas.text(0), schema)) return quoted(schema) + "." + quoted(text.substr(dot + 1));
  return std::nullopt;
}

void EinsumCall::find(EinsumOperand& operand) {
  const auto& text = operand.text;
  if (text.starts_with('(')) {
    operand.name = "SELECT * FROM " + text;
    return;
  }
  if (const auto source = table_source(database_.host(), text)) {
    operand.name = "SELECT * FROM " + *source;
    return;
  }
  if (!tensors_) tensors_ = database_.tensor_names();
  const auto found = std::find_if(tensors_->begin(), tensors_->end(),
                                  [&](const std::string& name) { return equal_names(name, text); });
  if (found == tensors_->end())
    throw HostError("there is no tensor, table or view " + text +
                    "\n  hint: a query as an operand stands in parentheses");
  if (operand.extents) throw HostError(text + " is a tensor, and has its extents: leave out those given with its name");
  operand.is_stored = true;
  operand.name = quoted(*found);
}

void EinsumCall::note_extent(const std::string& label, std::int64_t extent, const std::string& of) {
  auto& known = extents_[label];
  if (known.is_fixed && known.value != extent) {
    throw HostError("label " + label + " has " + std::to_string(known.value) + " indices in " + known.of + " and " +
                    std::to_string(extent) + " in " + of);
  }
  known = {.value = extent, .is_fixed = true, .of = of};
}

void EinsumCall::note_extents(const EinsumOperand& operand) {
  if (!operand.has_labels()) return;
  std::vector<std::int64_t> fixed;
  if (operand.is_stored) {
    auto description = file().execute("DESCRIBE " + operand.name);
    while (description.next())
      if (description.row().get<std::string>(1) == "label") fixed.push_back(description.row().get<std::int64_t>(2));
  } else if (operand.extents) {
    fixed = *operand.extents;
  }
  for (std::size_t d = 0; d < std::min(fixed.size(), operand.term.size()); ++d)
    note_extent(operand.term.substr(d, 1), fixed[d], operand.text);
  if (!fixed.empty()) return;
  for (std::size_t n = 0; n < operand.indices.size(); ++n) {
    auto& known = extents_[operand.term.substr(n % operand.rank(), 1)];
    if (!known.is_fixed) known.value = std::max(known.value, operand.indices[n] + 1);
  }
}

std::int64_t EinsumCall::extent_of(const EinsumOperand& operand, std::size_t dimension) const {
  if (operand.has_labels()) {
    const auto found = extents_.find(operand.term.substr(dimension, 1));
    return found == extents_.end() ? 0 : found->second.value;
  }
  if (operand.extents) return (*operand.extents)[dimension];
  std::int64_t extent = 0;
  for (std::size_t n = dimension; n < operand.indices.size(); n += operand.rank())
    extent = std::max(extent, operand.indices[n] + 1);
  return extent;
}

/// Makes an array of the rows, or leaves them where it would be too large.
void EinsumCall::fill(EinsumOperand& operand) {
  std::int64_t count = 1;
  for (std::size_t d = 0; d < operand.rank(); ++d) {
    const auto extent = extent_of(operand, d);
    if (extent == 0) {
      throw HostError(operand.text + " has no rows, so that nothing tells the extent of " + operand.columns[d] +
                      "\n  hint: give its extents, as '" + operand.text + "(3, 4)'");
    }
    count = extent > kMostElements / count ? kMostElements + 1 : count * extent;
    operand.shape.push_back(extent);
  }
  const auto rows = static_cast<std::int64_t>(operand.rows());
  const auto places = places_of(operand);
  if (needs_file_ && count > kMostElements) {
    throw HostError(operand.text + " is too large for an array: it would have more than " +
                    std::to_string(kMostElements) + " elements" + std::string(kLargeHint));
  }
  operand.is_sparse = !needs_file_ && (count > kMostElements || (count > kSmallArray && rows < count / kCellShare));
  if (operand.is_sparse) return;
  make_array(operand, places, count);
}

/// For names that no tensor and table of the file has, with a number behind.
std::string EinsumCall::free_name() const {
  std::string name = "operand_";
  const auto is_taken = [&](const std::string& other) {
    return other.size() >= name.size() && equal_names(std::string_view(other).substr(0, name.size()), name);
  };
  HostStatement tables(database_.host(), "SELECT name FROM main.sqlite_schema");
  std::vector<std::string> taken = tensors_.value_or(std::vector<std::string>());
  while (tables.step()) taken.push_back(tables.text(0));
  while (std::any_of(taken.begin(), taken.end(), is_taken)) name += '_';
  return name;
}

eindb::QueryResult EinsumCall::execute(bool without_zeros) {
  if (needs_file_) return execute_in(file(), without_zeros);
  if (std::none_of(operands_.begin(), operands_.end(), [](const EinsumOperand& each) { return each.is_sparse; }))
    return execute_in(database_.in_memory(), without_zeros);
  eindb::Connection connection(":memory:");  // which the result keeps
  return execute_in(connection, without_zeros);
}

eindb::QueryResult EinsumCall::execute_in(eindb::Connection& connection, bool without_zeros) {
  const auto prefix = free_name();
  std::string text = "EINSUM " + quoted(subscripts_, '\'') + " (";
  for (std::size_t n = 0; n < operands_.size(); ++n) {
    auto& operand = operands_[n];
    if (!operand.is_stored) operand.name = prefix + std::to_string(n + 1);
    text += (n == 0 ? "" : ", ") + operand.name;
  }
  text += ')';
  if (without_zeros) text = "SELECT * FROM (" + text + ") WHERE val <> 0";
  std::optional<eindb::QueryResult> result;
  database_.run_interruptibly(connection, [&] {
    for (const auto& operand : operands_)
      if (operand.is_sparse) load_tensor(connection, operand);
    auto statement = connection.prepare(text);
    for (const auto& operand : operands_) {
      if (operand.is_stored || operand.is_sparse) continue;
      statement.bind(operand.name, operand.has_reals ? eindb::TensorView::of(operand.reals.data(), operand.shape)
                                                     : eindb::TensorView::of(operand.integers.data(), operand.shape));
    }
    result.emplace(statement.execute());
  });
  return std::move(*result);
}

}  // namespace

ComputedEinsum compute_einsum(Database& database, const FileStatePtr& state, const std::string& subscripts,
                              const std::vector<std::string>& operands, bool without_zeros) {
  const auto call = std::make_shared<EinsumCall>(database, state, subscripts, operands);
  auto rows = call->run(without_zeros);
  return {.operands = call, .rows = std::move(rows)};
}

std::vector<std::string> result_labels(const std::string& subscripts) {
  const auto parsed = parse(subscripts);
  if (subscripts.find('.') != std::string::npos)
    throw HostError("the columns of a table are known by letters alone: the subscripts have an ellipsis");
  std::vector<std::string> labels;
  if (parsed.result) {
    for (const char c : *parsed.result) labels.emplace_back(1, c);
    return labels;
  }
  std::map<char, int> occurrences;
  for (const auto& term : parsed.terms)
    for (const char c : term) ++occurrences[c];
  for (const auto& [letter, count] : occurrences)
    if (count == 1) labels.emplace_back(1, letter);
  return labels;
}

}  // namespace eindb_sqlite
