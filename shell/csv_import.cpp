#include "shell/csv_import.hpp"

#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "common/file_stream.hpp"
#include "common/letter_case.hpp"
#include "shell/command_words.hpp"
#include "shell/interrupts.hpp"
#include "shell/separated_values.hpp"

namespace eindb {
namespace {

using CsvValues = std::vector<SeparatedValues::Value>;

bool is_null(const SeparatedValues::Value& value) { return value.text.empty() && !value.quoted; }

/// The type of a new column, by the values that were seen.
struct ColumnKind {
  bool integers = true;
  bool reals = true;
  bool empty = true;

  void see(const SeparatedValues::Value& value) {
    if (is_null(value)) return;
    empty = false;
    integers = integers && is_integer(value);
    reals = reals && is_real(value);
  }
  const char* name() const { return empty || !reals ? "TEXT" : integers ? "INTEGER" : "REAL"; }

 private:
  /// A number that is written as SQL writes it: not 007, which is a code, nor +1.
  static bool is_integer(const SeparatedValues::Value& value) {
    std::int64_t number = 0;
    const auto* begin = value.text.data();
    const auto [end, error] = std::from_chars(begin, begin + value.text.size(), number);
    return !value.quoted && error == std::errc() && end == begin + value.text.size() &&
           std::to_string(number) == value.text;
  }
  static bool is_real(const SeparatedValues::Value& value) {
    double number = 0;
    const auto* begin = value.text.data();
    const auto [end, error] = std::from_chars(begin, begin + value.text.size(), number);
    const auto first = value.text.find_first_not_of('-');
    const bool is_code = first + 1 < value.text.size() && value.text[first] == '0' && value.text[first + 1] != '.' &&
                         std::tolower(static_cast<unsigned char>(value.text[first + 1])) != 'e';
    // An integer beyond 64 bits would lose digits.
    const bool is_long = value.text.find_first_of(".eE") == std::string::npos && !is_integer(value);
    return !value.quoted && error == std::errc() && end == begin + value.text.size() && std::isfinite(number) &&
           !is_code && !is_long;
  }
};

/// Reads the file from its beginning: calls `row` for each row behind the header, which is returned; without one, the
/// columns of the first row are counted.
struct CsvFile {
  const CsvImport& request;

  std::vector<std::string> read(const std::function<void(const CsvValues&)>& row) const {
    FileStream stream(request.file);
    if (!stream) throw Error(ErrorKind::Io, "cannot read '" + request.file + "': " + std::strerror(errno));
    SeparatedValues reader(stream, request.file, request.separator);
    std::vector<std::string> names;
    std::size_t columns = 0;
    for (CsvValues values; reader.next(values);) {
      Interrupts::check("the import");
      if (columns == 0) columns = values.size();
      if (values.size() != columns) {
        reader.fail("this row has " + std::to_string(values.size()) + " values, those before it have " +
                    std::to_string(columns));
      }
      if (request.has_header && names.empty()) names = names_of(reader, values);
      else row(values);
    }
    if (columns == 0) throw Error(ErrorKind::Value, "'" + request.file + "' has no rows");
    for (std::size_t n = names.size(); n < columns; ++n) names.push_back("c" + std::to_string(n + 1));
    return names;
  }

 private:
  static std::vector<std::string> names_of(const SeparatedValues& reader, const CsvValues& values) {
    std::vector<std::string> names;
    for (const auto& value : values) {
      if (value.text.empty()) reader.fail("a column has no name", ".import --noheader takes the first line as values");
      names.push_back(value.text);
    }
    return names;
  }
};

bool has_table(Shell& shell, const std::string& name) {
  return !shell.query("SELECT 1 FROM pragma_table_info(" + in_quotes(name, '\'') + ")").empty();
}

void create_table(Shell& shell, const CsvFile& file) {
  std::vector<ColumnKind> kinds;
  const auto names = file.read([&](const CsvValues& values) {
    kinds.resize(values.size());
    for (std::size_t n = 0; n < values.size(); ++n) kinds[n].see(values[n]);
  });
  kinds.resize(names.size());
  std::string columns;
  for (std::size_t n = 0; n < names.size(); ++n)
    columns += (n == 0 ? "" : ", ") + in_quotes(names[n], '"') + " " + kinds[n].name();
  shell.session().execute("CREATE TABLE " + in_quotes(file.request.table, '"') + " (" + columns + ")");
}

std::unique_ptr<RowLoader> begin_load(Session& session, const LoadTarget& target) {
  try {
    return session.load(target);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::UnknownName || !error.hint().empty() || target.columns.empty()) throw;
    throw Error(error.kind(), error.message(), std::nullopt, ".import --noheader takes the first line as values");
  }
}

std::int64_t add_rows(Shell& shell, const CsvFile& file, const std::vector<std::string>& columns) {
  const auto loader = begin_load(shell.session(), {.schema = {}, .name = file.request.table, .columns = columns});
  const auto width = loader->columns().size();
  Row row;
  file.read([&](const CsvValues& values) {
    if (values.size() != width) {
      throw Error(ErrorKind::Value, "the rows of '" + file.request.file + "' have " + std::to_string(values.size()) +
                                        " values, and " + file.request.table + " has " + std::to_string(width) +
                                        " columns");
    }
    row.clear();
    for (const auto& value : values) row.push_back(is_null(value) ? Cell{} : Cell{value.text});
    loader->add(row);
  });
  return loader->finish();
}

/// The names in the first line of the file; none without a header.
std::vector<std::string> header_of(const CsvImport& request) {
  if (!request.has_header) return {};
  FileStream stream(request.file);
  if (!stream) throw Error(ErrorKind::Io, "cannot read '" + request.file + "': " + std::strerror(errno));
  SeparatedValues reader(stream, request.file, request.separator);
  CsvValues values;
  std::vector<std::string> names;
  if (!reader.next(values)) throw Error(ErrorKind::Value, "'" + request.file + "' has no rows");
  for (const auto& value : values) names.push_back(value.text);
  return names;
}

/// A transaction of the command's own, or a part of the user's, in which a table that was made is dropped again.
class ImportTransaction {
 public:
  explicit ImportTransaction(Session& session) : session_(session), own_(!session.in_transaction()) {
    if (own_) session_.execute("BEGIN IMMEDIATE");
  }
  ~ImportTransaction() {
    if (done_) return;
    try {
      if (own_) session_.execute("ROLLBACK");
      else if (!made_.empty()) session_.execute("DROP TABLE " + in_quotes(made_, '"'));
    } catch (const std::exception&) {  // SQLite has rolled it back already
    }
  }
  ImportTransaction(const ImportTransaction&) = delete;
  ImportTransaction& operator=(const ImportTransaction&) = delete;

  void made(const std::string& table) { made_ = table; }
  void commit() {
    if (own_) session_.execute("COMMIT");
    done_ = true;
  }

 private:
  Session& session_;
  bool own_;
  bool done_ = false;
  std::string made_;
};

}  // namespace

std::int64_t import_csv(Shell& shell, const CsvImport& request) {
  const Interrupts::Scope scope(shell.session());
  for (const auto& tensor : shell.session().tensor_names()) {
    if (!equal_ignoring_case(tensor, request.table)) continue;
    throw Error(ErrorKind::Type, tensor + " is a tensor", std::nullopt,
                "COPY " + identifier(tensor) + " FROM " + in_quotes(request.file, '\'') + " loads its cells");
  }
  std::error_code unknown;
  if (std::filesystem::exists(request.file, unknown) && !std::filesystem::is_regular_file(request.file, unknown))
    refuse("'" + request.file + "' is no file, which can be read several times", "write what a pipe gives to a file");
  const CsvFile file{request};
  const auto columns = header_of(request);
  ImportTransaction transaction(shell.session());
  if (!has_table(shell, request.table)) {
    create_table(shell, file);
    transaction.made(request.table);
  }
  const auto rows = add_rows(shell, file, columns);
  transaction.commit();
  return rows;
}

}  // namespace eindb
