#include "server/copy/copy_in.hpp"

#include <bit>
#include <string>
#include <utility>

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "common/letter_case.hpp"
#include "engine/sql_functions/bytea_text.hpp"
#include "server/copy/copy_decoder.hpp"
#include "server/copy/copy_error.hpp"
#include "server/copy/copy_file.hpp"
#include "server/protocol/big_endian.hpp"
#include "server/protocol/frontend_message.hpp"
#include "server/protocol/protocol_error.hpp"
#include "server/values/data_type.hpp"
#include "server/values/declared_type.hpp"
#include "server/values/value_format.hpp"

namespace eindb {
namespace {

using frontend::Format;

DataType type_of(const Column& column) {
  return column.declared_type.empty() ? data_type(column.type) : declared_data_type(column.declared_type);
}

bool is_integer(DataType type) {
  return type == DataType::Int2 || type == DataType::Int4 || type == DataType::Int8 || type == DataType::Oid;
}

bool is_real(DataType type) { return type == DataType::Float4 || type == DataType::Float8; }

[[noreturn]] void fail_size(std::string_view value, DataType type) {
  throw Error(ErrorKind::Corrupt,
              "a value of " + std::to_string(value.size()) + " bytes is no " + std::string(find_data_type(type)->name));
}

/// A binary integer of any size, since columns of SQLite hold all sizes.
std::int64_t binary_integer(std::string_view value, DataType type) {
  switch (value.size()) {
    case 2: return load_big_endian<std::int16_t>(value);
    case 4: return load_big_endian<std::int32_t>(value);
    case 8: return load_big_endian<std::int64_t>(value);
    default: fail_size(value, type);
  }
}

double binary_real(std::string_view value, DataType type) {
  switch (value.size()) {
    case 4: return double{std::bit_cast<float>(load_big_endian<std::uint32_t>(value))};
    case 8: return std::bit_cast<double>(load_big_endian<std::uint64_t>(value));
    default: fail_size(value, type);
  }
}

Cell stored_cell(ParameterInput read) {
  if (const auto* integer = std::get_if<std::int64_t>(&read)) return *integer;
  if (const auto* real = std::get_if<double>(&read)) return *real;
  if (auto* bytes = std::get_if<std::vector<std::byte>>(&read)) return std::move(*bytes);
  return std::get<std::string>(std::move(read));
}

Cell binary_cell(std::string_view value, DataType type) {
  if (is_integer(type)) return binary_integer(value, type);
  if (is_real(type)) return binary_real(value, type);
  if (type == DataType::Bool) {
    if (value.size() != 1) fail_size(value, type);
    return std::int64_t{value[0] != 0};
  }
  return stored_cell(read_value(value, type, Format::Binary));
}

Cell text_cell(std::string_view value, DataType type) { return stored_cell(read_value(value, type, Format::Text)); }

class RowsIn final : public CopyIn {
 public:
  RowsIn(const CopyStatement& statement, const CopyFormatOptions& options, Session& session)
      : binary_(options.format == CopyFormat::Binary),
        loader_(session.load({.schema = sql_schema(statement.schema),
                              .name = statement.table,
                              .columns = statement.columns,
                              .checked = true})),
        row_(loader_->columns().size()) {
    CopyTarget target{.table = statement.table, .columns = {}};
    for (const auto& column : loader_->columns()) {
      types_.push_back(type_of(column));
      target.columns.push_back(column.name);
    }
    CHECK(types_.size() == row_.size(), "every column has a type");
    decoder_ = make_copy_decoder(options, std::move(target));
  }

  void begin(MessageWriter& out) const override {
    const auto format = static_cast<std::int16_t>(binary_ ? Format::Binary : Format::Text);
    out.begin('G').integer(static_cast<std::int8_t>(format)).integer(static_cast<std::int16_t>(types_.size()));
    for (std::size_t n = 0; n < types_.size(); ++n) out.integer(format);
    out.end();
  }

  void append(std::string_view bytes) override {
    decoder_->append(bytes);
    load();
  }

  std::string finish() override {
    decoder_->finish();
    load();
    return "COPY " + std::to_string(loader_->finish());
  }

 private:
  static std::string sql_schema(const std::string& schema) {
    if (equal_ignoring_case(schema, "public")) return "main";
    return equal_ignoring_case(schema, "pg_temp") ? "temp" : schema;
  }

  void load() {
    while (const auto* fields = decoder_->next()) {
      DCHECK(fields->size() == types_.size(), "a row that comes has a field for each column");
      for (std::size_t n = 0; n < types_.size(); ++n) row_[n] = cell((*fields)[n], n);
      try {
        loader_->add(row_);
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::Cancelled) throw;
        throw decoder_->error_in_row(error);
      }
    }
  }

  Cell cell(const CopyField& field, std::size_t column) const {
    if (!field) return {};
    try {
      return binary_ ? binary_cell(*field, types_[column]) : text_cell(*field, types_[column]);
    } catch (const Error& error) {
      throw decoder_->error_in(column, error);
    } catch (const ProtocolError& error) {  // the value is of another length than its type
      throw decoder_->error_in(column, CodedError(error.sqlstate(), ErrorKind::Corrupt, error.what()));
    }
  }

  const bool binary_;
  std::unique_ptr<RowLoader> loader_;
  std::unique_ptr<CopyDecoder> decoder_;
  std::vector<DataType> types_;
  Row row_;  // reused for each row
};

class FileIn final : public CopyIn {
 public:
  FileIn(std::shared_ptr<const PreparedStatement> copy, std::unique_ptr<TransferFile> file, Session& session)
      : copy_(std::move(copy)), file_(std::move(file)), session_(session) {
    CHECK(copy_ != nullptr && file_ != nullptr, "a file that comes has a place, and a statement that reads it");
  }

  void begin(MessageWriter& out) const override { write_file_response(out, 'G'); }

  void append(std::string_view bytes) override { file_->append(bytes); }

  // A tensor counts as one row.
  std::string finish() override {
    file_->append("");
    run_file_copy(*copy_, *file_, session_);
    return "COPY 1";
  }

 private:
  std::shared_ptr<const PreparedStatement> copy_;
  std::unique_ptr<TransferFile> file_;
  Session& session_;
};

}  // namespace

std::unique_ptr<CopyIn> copy_rows_in(const CopyStatement& statement, Session& session) {
  return std::make_unique<RowsIn>(statement, std::get<CopyFormatOptions>(statement.format), session);
}

std::unique_ptr<CopyIn> copy_file_in(std::shared_ptr<const PreparedStatement> copy, std::unique_ptr<TransferFile> file,
                                     Session& session) {
  return std::make_unique<FileIn>(std::move(copy), std::move(file), session);
}

}  // namespace eindb
