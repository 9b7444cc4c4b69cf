#include "engine/files/sql_export.hpp"

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "common/check.hpp"
#include "common/error.hpp"
#include "engine/files/arrow_export.hpp"
#include "engine/query/sql_cells.hpp"
#include "storage/files/output_file.hpp"
#include "storage/formats/cell_list_writer.hpp"
#include "tensor/number_text.hpp"

namespace eindb {
namespace {

constexpr std::size_t kFlushBytes = 1 << 20;
constexpr std::int64_t kExportedRowsPerCheck = 4096;

std::string hex_of(const std::vector<std::byte>& bytes) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const auto byte : bytes) {
    out += kDigits[std::to_integer<std::size_t>(byte) >> 4U];
    out += kDigits[std::to_integer<std::size_t>(byte) & 15U];
  }
  return out;
}

/// Appends one value in CSV syntax.
struct CsvValue {
  std::string& out;
  char delimiter;

  void operator()(std::monostate) const {}
  void operator()(std::int64_t value) const { append_number(out, value); }
  void operator()(double value) const { append_number(out, value); }
  void operator()(const std::string& text) const {
    if (text.empty()) out += "\"\"";
    else append_csv_field(out, text, delimiter);
  }
  void operator()(const std::vector<std::byte>& bytes) const {
    if (bytes.empty()) out += "\"\"";
    else out += hex_of(bytes);
  }
};

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

struct JsonValue {
  std::string& out;

  void operator()(std::monostate) const { out += "null"; }
  void operator()(std::int64_t value) const { append_number(out, value); }
  void operator()(double value) const {
    if (std::isfinite(value)) append_number(out, value);
    else out += "null";
  }
  void operator()(const std::string& text) const { out += json_text(text); }
  void operator()(const std::vector<std::byte>& bytes) const { out += '"' + hex_of(bytes) + '"'; }
};

void append_csv_row(std::string& out, const SqliteStatement& row, char delimiter) {
  for (int c = 0; c < row.column_count(); ++c) {
    if (c > 0) out += delimiter;
    std::visit(CsvValue{out, delimiter}, row.value(c));
  }
  out += '\n';
}

void append_json_row(std::string& out, const SqliteStatement& row, const std::vector<std::string>& names) {
  DCHECK(names.size() == static_cast<std::size_t>(row.column_count()), "every column of a row has a name");
  for (int c = 0; c < row.column_count(); ++c) {
    out += (c == 0 ? "{" : ",") + names[static_cast<std::size_t>(c)] + ":";
    std::visit(JsonValue{out}, row.value(c));
  }
  out += "}\n";
}

/// The rows of a query as results have them.
class ExportedRows final : public RowSource {
 public:
  ExportedRows(PreparedSql& rows, const StatementContext& statement) : rows_(rows), statement_(statement) {}

  bool next(Row& row) override {
    if (++count_ % kExportedRowsPerCheck == 0) statement_.cancellation().check();
    if (!rows_.step()) return false;
    row.clear();
    for (int c = 0; c < rows_.statement().column_count(); ++c) row.push_back(cell_of(rows_.statement().value(c)));
    return true;
  }

 private:
  PreparedSql& rows_;
  const StatementContext& statement_;
  std::int64_t count_ = 0;
};

}  // namespace

void export_rows(const FilePath& path, const CopyOptions& options, const ast::Sql& sql, SessionState& session) {
  const bool json = options.format == FileFormat::JsonLines;
  const bool delimited = options.format == FileFormat::Csv || options.format == FileFormat::Tsv;
  if (is_arrow(options.format)) {
    auto prepared = prepare_rows(sql, session, "COPY");
    Result result{.columns = prepared.columns(),
                  .rows = std::make_unique<ExportedRows>(prepared, session.statement),
                  .status = {},
                  .tensor = nullptr};
    return export_arrow(path, options.format, *row_batches(std::move(result), kArrowFileRows), session);
  }
  if (!json && (!delimited || options.cells.chosen)) {
    throw Error(ErrorKind::Unsupported, "rows of SQL are written as csv, tsv, jsonl or arrow", std::nullopt,
                "make a tensor of them first: CREATE TENSOR X (...) AS SELECT ...");
  }
  auto rows = prepare_rows(sql, session, "COPY");
  std::vector<std::string> names;
  for (const auto& column : rows.columns()) names.push_back(json ? json_text(column.name) : column.name);
  OutputFile file(path);
  std::string buffer;
  if (!json && options.csv.header != CsvHeader::Absent) buffer = csv_header(names, options.csv.delimiter);
  const auto flush = [&] {
    file.append(std::as_bytes(std::span(buffer)));
    buffer.clear();
  };
  for (std::int64_t n = 1; rows.step(); ++n) {
    if (n % kExportedRowsPerCheck == 0) session.statement.cancellation().check();
    if (json) append_json_row(buffer, rows.statement(), names);
    else append_csv_row(buffer, rows.statement(), options.csv.delimiter);
    if (buffer.size() >= kFlushBytes) flush();
  }
  flush();
  file.commit();
}

}  // namespace eindb
