#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/files/copy_buffer.hpp"
#include "server/copy/copy_decoder.hpp"

namespace eindb {

/// Decodes binary rows; copy_signature.hpp describes their format. Fields contain arbitrary bytes.
class CopyBinaryDecoder : public CopyDecoder {
 public:
  CopyBinaryDecoder(CopyTarget target, std::size_t most_row_bytes)
      : target_(std::move(target)), most_row_bytes_(most_row_bytes) {}

  void append(std::string_view bytes) override;
  void finish() override { buffer_.finish(); }
  const std::vector<CopyField>* next() override;
  CopyError error_in(std::size_t column, const Error& cause) const override;
  CopyError error_in_row(const Error& cause) const override;

 private:
  enum class Stage : std::uint8_t { Signature, Flags, ExtensionLength, Extension, Rows, Trailer };

  /// The place of a field within an incomplete row, from the row's beginning.
  struct Place {
    std::size_t offset = 0;
    std::int32_t length = 0;
  };

  bool read_header();
  bool read_signature();
  bool read_flags();
  bool read_extension_length();
  bool skip_extension();
  bool read_row();
  bool read_field_count();
  bool read_field();
  void begin_row();
  void check_length(std::size_t row_bytes) const;
  void check_trailer() const;
  void take_row();
  template <class T>
  std::optional<T> integer();

  CopyTarget target_;
  std::size_t most_row_bytes_;
  CopyBuffer buffer_;
  Stage stage_ = Stage::Signature;
  std::size_t extension_ = 0;  // bytes of the header extension still to skip
  std::size_t at_ = 0;         // bytes read of the current row
  bool counted_ = false;       // the number of fields is read
  bool complete_ = false;      // the row has been returned
  std::vector<Place> places_;
  std::vector<CopyField> row_;
  std::int64_t line_ = 0;  // number of the current or last row; 0 in the header
};

}  // namespace eindb
