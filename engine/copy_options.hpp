#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parser/ast.hpp"
#include "storage/csv_reader.hpp"

namespace eindb {

enum class FileFormat : std::uint8_t { Npy, Csv };

/// What COPY ... (FORMAT csv, DELIMITER ';', HEADER on) says, checked.
struct CopyOptions {
  FileFormat format = FileFormat::Npy;
  CsvOptions csv;
};

/// The format is that of FORMAT or else of the path's ending. Throws Error with the place of what does not fit.
CopyOptions read_copy_options(const std::string& path, SourceSpan path_span, const std::vector<ast::Option>& options);

}  // namespace eindb
