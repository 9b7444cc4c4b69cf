#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "engine/files/copy_fields.hpp"
#include "engine/files/copy_line_reader.hpp"
#include "storage/files/input_file.hpp"

namespace eindb {

/// The rows of a CSV or TSV file, one after the other. Not thread-safe.
class FileRows {
 public:
  FileRows(const FilePath& path, char delimiter, std::int64_t largest_row);

  /// The fields of the next row; null after the last one. Valid until the next call. Errors name the line.
  const std::vector<CopyField>* next();
  /// The error with the file and the line before its message.
  Error at_line(const Error& cause) const;

 private:
  bool read();

  InputFile file_;
  CopyLineReader lines_;
  CopyFields fields_;
  std::vector<char> buffer_;
  std::int64_t offset_ = 0;
  bool finished_ = false;
  std::optional<std::string_view> line_;
  std::vector<CopyField> row_;
};

/// The text without spaces at its ends.
std::string_view without_spaces(std::string_view text);

}  // namespace eindb
