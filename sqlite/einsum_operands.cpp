#include "sqlite/einsum_operands.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <map>
#include <optional>

#include "sqlite/values.hpp"

namespace eindb_sqlite {
namespace {

/// Elements of an array that a table is read into: 1 GiB of values.
constexpr std::int64_t kMostElements = std::int64_t{1} << 27U;

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

/// An operand as it was named, and what becomes of it.
struct Operand {
  std::string text;                                  // without extents
  std::optional<std::vector<std::int64_t>> extents;  // as given
  bool is_stored = false;                            // a tensor of the file
  std::string term;                    // its subscripts; empty, or with an ellipsis, if not known one by one
  std::string name;                    // in eindb's statement
  std::vector<std::string> columns;    // of a table, the value's included
  std::vector<std::int64_t> indices;   // of a table, row by row
  std::vector<double> reals;           // its values, if some of them is no integer
  std::vector<std::int64_t> integers;  // else
  bool has_reals = false;
  std::vector<std::int64_t> shape;

  std::size_t rank() const { return columns.size() - 1; }
  std::size_t rows() const { return integers.size(); }
  bool has_labels() const { return term.find('.') == std::string::npos; }
};

/// "A(3, 4)" -> A, 3 and 4.
void take_extents(Operand& operand) {
  auto& text = operand.text;
  while (!text.empty() && text.back() == ' ') text.pop_back();
  const auto open = text.rfind('(');
  if (open == std::string::npos || open == 0 || text.back() != ')') return;
  std::vector<std::int64_t> extents;
  const char* at = text.data() + open + 1;
  const char* const end = text.data() + text.size() - 1;
  while (at < end) {
    while (at < end && *at == ' ') ++at;
    std::int64_t extent = 0;
    const auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc() || extent < 1) return;
    extents.push_back(extent);
    at = next;
    while (at < end && *at == ' ') ++at;
    if (at < end && *at++ != ',') return;
  }
  if (extents.empty()) return;
  operand.extents = std::move(extents);
  text.resize(open);
  while (!text.empty() && text.back() == ' ') text.pop_back();
}

/// One reading of the operands, from their names to arrays.
class EinsumCall {
 public:
  EinsumCall(Database& database, const std::string& subscripts, const std::vector<std::string>& names)
      : database_(database), subscripts_(subscripts) {
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

  eindb::QueryResult run() {
    for (auto& operand : operands_) find(operand);
    for (auto& operand : operands_)
      if (!operand.is_stored) read(operand);
    for (auto& operand : operands_) note_extents(operand);
    for (auto& operand : operands_)
      if (!operand.is_stored) fill(operand);
    return execute();
  }

 private:
  void find(Operand& operand);
  void read(Operand& operand);
  void read_row(Operand& operand, const HostStatement& rows);
  void note_extents(const Operand& operand);
  void note_extent(const std::string& label, std::int64_t extent, const std::string& of);
  std::int64_t extent_of(const Operand& operand, std::size_t dimension) const;
  void fill(Operand& operand);
  std::string free_name() const;
  eindb::QueryResult execute();

  struct Extent {
    std::int64_t value = 0;
    bool is_fixed = false;  // by a tensor, or given
    std::string of;
  };

  Database& database_;
  std::string subscripts_;
  std::vector<Operand> operands_;
  std::map<std::string, Extent> extents_;  // by label
  std::optional<std::vector<std::string>> tensors_;
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

void EinsumCall::find(Operand& operand) {
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

void EinsumCall::read(Operand& operand) {
  HostStatement rows(database_.host(), operand.name);
  if (!rows.is_read_only()) throw HostError("an operand is a query that only reads: " + operand.text);
  for (int n = 0; n < rows.column_count(); ++n) operand.columns.push_back(rows.column_name(n));
  if (operand.has_labels() && operand.term.size() != operand.rank()) {
    throw HostError(
        operand.text + " has " + std::to_string(operand.columns.size()) + " columns, and the subscripts '" +
        operand.term + "' are for " + std::to_string(operand.term.size() + 1) +
        "\n  hint: its columns are the indices in order, then the value; a query in parentheses chooses them: "
        "'(SELECT i, j, val FROM A)'");
  }
  if (operand.extents && operand.extents->size() != operand.rank()) {
    throw HostError(operand.text + " has " + std::to_string(operand.rank()) + " indices, and " +
                    std::to_string(operand.extents->size()) + " extents are given");
  }
  while (rows.step()) read_row(operand, rows);
}

void EinsumCall::read_row(Operand& operand, const HostStatement& rows) {
  const auto fail = [&](int column, const std::string& what) {
    throw HostError("column " + operand.columns[static_cast<std::size_t>(column)] + " of " + operand.text + " holds " +
                    (rows.type(column) == SQLITE_NULL ? "NULL" : "'" + rows.text(column) + "'") + " in row " +
                    std::to_string(operand.rows() + 1) + ": " + what);
  };
  const auto rank = static_cast<int>(operand.rank());
  for (int d = 0; d < rank; ++d) {
    if (rows.type(d) != SQLITE_INTEGER) fail(d, "an index is an integer");
    if (rows.integer(d) < 0) fail(d, "an index is not negative");
    if (rows.integer(d) == std::numeric_limits<std::int64_t>::max()) fail(d, "an index is less than that");
    operand.indices.push_back(rows.integer(d));
  }
  switch (rows.type(rank)) {
    case SQLITE_INTEGER: break;
    case SQLITE_FLOAT: operand.has_reals = true; break;
    case SQLITE_NULL: operand.has_reals = true; break;
    default: fail(rank, "a value is a number, or NULL");
  }
  operand.integers.push_back(rows.integer(rank));
  operand.reals.push_back(rows.type(rank) == SQLITE_NULL ? std::numeric_limits<double>::quiet_NaN() : rows.real(rank));
}

void EinsumCall::note_extent(const std::string& label, std::int64_t extent, const std::string& of) {
  auto& known = extents_[label];
  if (known.is_fixed && known.value != extent) {
    throw HostError("label " + label + " has " + std::to_string(known.value) + " indices in " + known.of + " and " +
                    std::to_string(extent) + " in " + of);
  }
  known = {.value = extent, .is_fixed = true, .of = of};
}

void EinsumCall::note_extents(const Operand& operand) {
  if (!operand.has_labels()) return;
  std::vector<std::int64_t> fixed;
  if (operand.is_stored) {
    auto description = database_.reading().execute("DESCRIBE " + operand.name);
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

std::int64_t EinsumCall::extent_of(const Operand& operand, std::size_t dimension) const {
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

/// The values of rows at their places in a row-major array.
template <class T>
std::vector<T> placed(const std::vector<T>& values, const std::vector<std::int64_t>& places, std::int64_t count) {
  std::vector<T> array(static_cast<std::size_t>(count));
  for (std::size_t n = 0; n < values.size(); ++n) array[static_cast<std::size_t>(places[n])] = values[n];
  return array;
}

void EinsumCall::fill(Operand& operand) {
  std::int64_t count = 1;
  for (std::size_t d = 0; d < operand.rank(); ++d) {
    const auto extent = extent_of(operand, d);
    if (extent == 0) {
      throw HostError(operand.text + " has no rows, so that nothing tells the extent of " + operand.columns[d] +
                      "\n  hint: give its extents, as '" + operand.text + "(3, 4)'");
    }
    if (extent > kMostElements / count)
      throw HostError(operand.text + " is too large for an array: it would have more than " +
                      std::to_string(kMostElements) + " elements" + std::string(kLargeHint));
    count *= extent;
    operand.shape.push_back(extent);
  }
  std::vector<std::int64_t> places;
  std::vector<bool> is_taken(static_cast<std::size_t>(count));
  for (std::size_t row = 0; row < operand.rows(); ++row) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < operand.rank(); ++d) {
      const auto index = operand.indices[row * operand.rank() + d];
      if (index >= operand.shape[d]) {
        throw HostError("column " + operand.columns[d] + " of " + operand.text + " holds " + std::to_string(index) +
                        ", and the extent there is " + std::to_string(operand.shape[d]));
      }
      place = place * operand.shape[d] + index;
    }
    if (is_taken[static_cast<std::size_t>(place)]) {
      throw HostError(operand.text + " has two rows for one cell: row " + std::to_string(row + 1) + " is the second" +
                      "\n  hint: add them up: '(SELECT i, j, SUM(val) FROM A GROUP BY i, j)'");
    }
    is_taken[static_cast<std::size_t>(place)] = true;
    places.push_back(place);
  }
  if (operand.has_reals) operand.reals = placed(operand.reals, places, count);
  else operand.integers = placed(operand.integers, places, count);
  operand.indices = {};
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

eindb::QueryResult EinsumCall::execute() {
  const bool needs_file =
      std::any_of(operands_.begin(), operands_.end(), [](const Operand& each) { return each.is_stored; });
  auto& connection = needs_file ? database_.reading() : database_.in_memory();
  const auto prefix = free_name();
  std::string text = "EINSUM " + quoted(subscripts_, '\'') + " (";
  for (std::size_t n = 0; n < operands_.size(); ++n) {
    auto& operand = operands_[n];
    if (!operand.is_stored) operand.name = prefix + std::to_string(n + 1);
    text += (n == 0 ? "" : ", ") + operand.name;
  }
  auto statement = connection.prepare(text + ")");
  for (const auto& operand : operands_) {
    if (operand.is_stored) continue;
    statement.bind(operand.name, operand.has_reals ? eindb::TensorView::of(operand.reals.data(), operand.shape)
                                                   : eindb::TensorView::of(operand.integers.data(), operand.shape));
  }
  std::optional<eindb::QueryResult> result;
  database_.run_interruptibly(connection, [&] { result.emplace(statement.execute()); });
  return std::move(*result);
}

}  // namespace

eindb::QueryResult compute_einsum(Database& database, const std::string& subscripts,
                                  const std::vector<std::string>& operands) {
  return EinsumCall(database, subscripts, operands).run();
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
