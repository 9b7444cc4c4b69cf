#include "engine/files/copy_format.hpp"

#include <algorithm>

#include "common/error.hpp"
#include "common/letter_case.hpp"

namespace eindb {

std::vector<bool> CopyColumnChoice::among(const std::vector<std::string>& columns, std::string_view option) const {
  std::vector<bool> chosen(columns.size(), all);
  for (const auto& name : names) {
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [&](const auto& column) { return equal_ignoring_case(column, name); });
    if (found == columns.end()) {
      throw Error(ErrorKind::UnknownName,
                  std::string(option) + " names a column that COPY does not have: \"" + name + "\"");
    }
    chosen[static_cast<std::size_t>(found - columns.begin())] = true;
  }
  return chosen;
}

CopyFormatOptions CopyFormatOptions::of(CopyFormat format) {
  CopyFormatOptions options;
  options.format = format;
  if (format == CopyFormat::Csv) {
    options.delimiter = ',';
    options.null.clear();
  }
  return options;
}

}  // namespace eindb
