#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server/copy/copy_decoder.hpp"
#include "server/copy/copy_statement.hpp"

namespace eindb {

/// The options of COPY t FROM STDIN or TO STDOUT.
inline CopyFormatOptions copy_format(std::string_view options, CopySide side) {
  const auto* const direction = side == CopySide::FromClient ? "COPY t FROM STDIN " : "COPY t TO STDOUT ";
  return std::get<CopyFormatOptions>(parse_copy_statement(direction + std::string(options)).value().format);
}

/// "[a][NULL]\n" for each row, and "message (context)" for a refusal.
inline std::string decoded(CopyDecoder& decoder, std::string_view bytes, std::size_t piece) {
  std::string out;
  const auto take_rows = [&] {
    while (const auto* row = decoder.next()) {
      for (const auto& field : *row) out += "[" + std::string(field.value_or("NULL")) + "]";
      out += '\n';
    }
  };
  try {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
      decoder.append(bytes.substr(0, piece));
      take_rows();
    }
    decoder.finish();
    take_rows();
  } catch (const CopyError& error) {
    out += error.message() + " (" + error.context() + ")";
  }
  return out;
}

inline std::string decoded(const CopyFormatOptions& options, const std::vector<std::string>& columns,
                           std::string_view bytes, std::size_t piece) {
  return decoded(*make_copy_decoder(options, {"t", columns}), bytes, piece);
}

}  // namespace eindb
