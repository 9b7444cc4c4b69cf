#include "shell/sql_dump.hpp"

#include <cmath>
#include <complex>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "engine/results/cell_text.hpp"
#include "shell/command_words.hpp"
#include "shell/interrupts.hpp"
#include "shell/schema_text.hpp"

namespace eindb {
namespace {

constexpr int kCellsPerStatement = 500;

/// One state of the database while this lives. The user's own transaction is one, too.
class OneState {
 public:
  explicit OneState(Session& session) : session_(session), begun_(!session.in_transaction()) {
    if (begun_) session_.execute("BEGIN");
  }
  ~OneState() {
    try {
      if (begun_) session_.execute("ROLLBACK");  // nothing was written
    } catch (const std::exception&) {            // the session is unusable, as the next statement tells
    }
  }
  OneState(const OneState&) = delete;
  OneState& operator=(const OneState&) = delete;

 private:
  Session& session_;
  bool begun_;
};

// ---- Tensors -------------------------------------------------------------------------------------------------------

std::string number_text(double value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  return cell_text(value);
}

/// A value as a constant expression; nullopt for zero, which cells have anyway.
std::optional<std::string> value_text(const Cell& cell) {
  return std::visit(
      []<class T>([[maybe_unused]] const T& value) -> std::optional<std::string> {
        if constexpr (std::is_same_v<T, std::int64_t>) {
          return value == 0 ? std::nullopt : std::optional(std::to_string(value));
        } else if constexpr (std::is_floating_point_v<T>) {
          if (value == 0 && !std::signbit(value)) return std::nullopt;
          return number_text(value);
        } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
          const bool has_sign = std::signbit(value.real()) || std::signbit(value.imag());
          if (value.real() == 0 && value.imag() == 0 && !has_sign) return std::nullopt;
          return "COMPLEX(" + number_text(value.real()) + ", " + number_text(value.imag()) + ")";
        } else {
          return std::nullopt;  // tensors contain numbers only
        }
      },
      cell);
}

/// An index, or what it is called.
std::string index_text(const Cell& cell) {
  return std::holds_alternative<std::string>(cell) ? in_quotes(cell_text(cell), '\'') : cell_text(cell);
}

Result cells_of(Shell& shell, const std::string& name) {
  std::string labels;
  int rank = 0;
  for (const auto& row : shell.query("DESCRIBE " + in_quotes(name, '"'))) {
    if (cell_text(row.at(1)) != "label") continue;
    labels += (labels.empty() ? "d" : ", d") + std::to_string(rank++);
  }
  return shell.session().execute("EINSUM dumped[" + labels + "] = " + in_quotes(name, '"') + "[" + labels + "]");
}

void check_size(Shell& shell, const std::string& name) {
  auto cells = cells_of(shell, name);
  if (cells.tensor->grid.shape().element_count() <= kMostDumpedCells) return;
  std::int64_t count = 0;
  for (Row row; cells.rows->next_nonzero(row);) ++count;
  if (count <= kMostDumpedCells) return;
  throw Error(ErrorKind::Value,
              "tensor " + name + " has " + std::to_string(count) + " cells other than zero, more than the " +
                  std::to_string(kMostDumpedCells) + " that statements hold",
              std::nullopt, "COPY " + identifier(name) + " TO 'file.npy' writes it, .backup FILE the whole database");
}

void write_tensor(Shell& shell, const std::string& name) {
  auto& output = shell.output();
  output.write(tensor_schema(shell, name));
  auto cells = cells_of(shell, name);
  int in_statement = 0;
  for (Row row; cells.rows->next_nonzero(row);) {
    Interrupts::check("the dump");
    const auto value = value_text(row.back());
    if (!value) continue;
    std::string text = in_statement == 0 ? "INSERT INTO TENSOR " + identifier(name) + " VALUES (" : ",\n  (";
    for (std::size_t d = 0; d + 1 < row.size(); ++d) text += index_text(row[d]) + ", ";
    text += *value + ")";
    in_statement = (in_statement + 1) % kCellsPerStatement;
    output.write(in_statement == 0 ? text + ";\n" : text);
  }
  if (in_statement != 0) output.write(";\n");
}

// ---- Tables --------------------------------------------------------------------------------------------------------

/// SQL for a column's values as literals. SQLite's quote() does not do for infinities and texts with zero bytes.
std::string literal_of(const std::string& column) {
  return "CASE typeof(" + column + ") WHEN 'real' THEN CASE WHEN " + column + " > 1.7976931348623157e308 THEN '9e999'" +
         " WHEN " + column + " < -1.7976931348623157e308 THEN '-9e999' ELSE quote(" + column + ") END" +
         " WHEN 'text' THEN CASE WHEN instr(" + column + ", char(0)) > 0 THEN 'CAST(x''' || hex(" + column +
         ") || ''' AS TEXT)' ELSE quote(" + column + ") END ELSE quote(" + column + ") END";
}

void write_rows(Shell& shell, const std::string& table) {
  std::string names;
  std::string literals;
  for (const auto& row :
       shell.query("SELECT name FROM pragma_table_xinfo(" + in_quotes(table, '\'') + ") WHERE hidden = 0")) {
    const auto column = in_quotes(cell_text(row.at(0)), '"');
    names += (names.empty() ? "" : ", ") + column;
    literals += (literals.empty() ? "" : ", ") + literal_of(column);
  }
  auto rows = shell.session().execute("SELECT " + literals + " FROM main." + in_quotes(table, '"')).rows;
  for (Row row; rows->next(row);) {
    Interrupts::check("the dump");
    std::string text = "INSERT INTO " + identifier(table) + " (" + names + ") VALUES (";
    for (const auto& cell : row) text += (&cell == row.data() ? "" : ", ") + cell_text(cell);
    shell.output().write(text + ");\n");
  }
}

/// Counters of AUTOINCREMENT.
void write_counters(Shell& shell, const std::string& table) {
  if (shell.query("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").empty()) return;
  for (const auto& row : shell.query("SELECT seq FROM sqlite_sequence WHERE name = " + in_quotes(table, '\''))) {
    const auto name = in_quotes(table, '\'');
    shell.output().write("DELETE FROM sqlite_sequence WHERE name = " + name + ";\n" +
                         "INSERT INTO sqlite_sequence (name, seq) VALUES (" + name + ", " + cell_text(row.at(0)) +
                         ");\n");
  }
}

/// (type, name, sql) of what SQL has: all of it, or the table with its indexes and triggers, or the view.
std::vector<Row> sql_objects(Shell& shell, const std::string& name) {
  std::string condition = std::string("sql IS NOT NULL AND ") + kOrdinary;
  if (!name.empty()) condition += " AND tbl_name = " + in_quotes(name, '\'') + " COLLATE NOCASE";
  return shell.query(
      "SELECT type, name, sql FROM main.sqlite_schema WHERE " + condition +
      " ORDER BY CASE type WHEN 'table' THEN 0 WHEN 'index' THEN 1 WHEN 'view' THEN 2 ELSE 3 END, rowid");
}

void check_tables(const std::vector<Row>& objects) {
  for (const auto& object : objects) {
    constexpr std::string_view kVirtual = "CREATE VIRTUAL";
    if (!equal_ignoring_case(cell_text(object.at(2)).substr(0, kVirtual.size()), kVirtual)) continue;
    throw Error(ErrorKind::Value, cell_text(object.at(1)) + " is a virtual table, which statements cannot hold",
                std::nullopt, ".backup FILE copies the whole database; .dump TABLE writes a single table");
  }
}

}  // namespace

void write_dump(Shell& shell, const std::string& name) {
  const Interrupts::Scope scope(shell.session());
  const OneState state(shell.session());
  std::vector<std::string> tensors;
  for (const auto& tensor : shell.session().tensor_names())
    if (name.empty() || equal_ignoring_case(tensor, name)) tensors.push_back(tensor);
  const auto objects = sql_objects(shell, name);
  if (!name.empty() && tensors.empty() && objects.empty())
    throw Error(ErrorKind::UnknownName, "there is no tensor or table " + name, std::nullopt, ".tables lists them");
  for (const auto& tensor : tensors) check_size(shell, tensor);
  check_tables(objects);

  auto& output = shell.output();
  if (name.empty() && shell.session().has_users()) output.write("-- Users and their passwords are not in this dump.\n");
  output.write("BEGIN;\n");
  if (name.empty())
    for (const auto& macro : macro_schemas(shell, "")) output.write(macro);
  for (const auto& tensor : tensors) write_tensor(shell, tensor);
  for (const auto& object : objects) {
    output.write(cell_text(object.at(2)) + ";\n");
    if (cell_text(object.at(0)) != "table") continue;
    write_rows(shell, cell_text(object.at(1)));
    write_counters(shell, cell_text(object.at(1)));
  }
  output.write("COMMIT;\n");
}

}  // namespace eindb
