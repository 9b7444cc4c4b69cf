#include "engine/statements/explanation.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/results/rows.hpp"

namespace eindb {

Result explanation(const std::string& text, bool one_cell) {
  std::vector<Row> rows;
  std::size_t begin = 0;
  while (!one_cell && begin < text.size()) {
    const auto end = std::min(text.find('\n', begin), text.size());
    rows.push_back({text.substr(begin, end - begin)});
    begin = end + 1;
  }
  if (one_cell) rows.push_back({text});
  return listed_result({{"plan", ColumnType::Text}}, std::move(rows));
}

}  // namespace eindb
