#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/files/copy_fields.hpp"
#include "engine/files/copy_line_reader.hpp"
#include "server/copy/copy_decoder.hpp"

namespace eindb {

/// Decodes rows of text and CSV. CopyLineReader finds the rows, CopyFields splits them, and this class applies header
/// and options.
class CopyLineDecoder : public CopyDecoder {
 public:
  CopyLineDecoder(const CopyFormatOptions& options, CopyTarget target, std::size_t most_row_bytes);

  void append(std::string_view bytes) override { lines_.append(bytes); }
  void finish() override { lines_.finish(); }
  const std::vector<CopyField>* next() override;
  CopyError error_in(std::size_t column, const Error& cause) const override;
  CopyError error_in_row(const Error& cause) const override;

 private:
  bool next_line();
  bool read_header();
  void match_header();
  void split_row();
  void apply_forces();
  std::string context() const;

  CopyTarget target_;
  CopyHeader header_;  // Absent once it has been read
  CopyLineReader lines_;
  CopyFields fields_;
  std::vector<bool> force_null_;
  std::vector<bool> force_not_null_;
  bool has_forces_;
  std::optional<std::string_view> line_;  // the current line
  std::vector<CopyField> row_;
};

}  // namespace eindb
