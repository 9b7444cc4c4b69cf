#include "shell/shown_rows.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "shell/tensor_element.hpp"

namespace eindb {
namespace {

/// Row `number` of a tensor's rows, which are in row-major order: (labels..., val).
Row tensor_row(const TensorRelation& tensor, std::int64_t number) {
  const auto& shape = tensor.grid.shape();
  std::vector<std::int64_t> index(shape.rank());
  for (auto d = index.size(); d-- > 0;) {
    index[d] = number % shape[d];
    number /= shape[d];
  }
  Row row(index.begin(), index.end());
  row.push_back(tensor_element(tensor, index));
  return row;
}

ShownRows ends_of_tensor(RowSource& rows, const TensorRelation& tensor, std::size_t limit) {
  ShownRows shown;
  const auto count = tensor.grid.shape().element_count();
  shown.count = count;
  shown.head.resize(limit - limit / 2);
  for (auto& row : shown.head) rows.next(row);
  shown.read = limit;
  for (auto number = count - static_cast<std::int64_t>(limit / 2); number < count; ++number)
    shown.tail.push_back(tensor_row(tensor, number));
  return shown;
}

ShownRows all_of(RowSource& rows) {
  ShownRows shown;
  for (Row row; rows.next(row); ++shown.read) shown.head.push_back(row);
  shown.count = static_cast<std::int64_t>(shown.read);
  return shown;
}

ShownRows ends_of(RowSource& rows, std::size_t limit) {
  const auto most = std::max(limit, ShownRows::kMostCounted);
  const auto tail_length = limit / 2;
  ShownRows shown;
  std::deque<Row> tail;  // of the rows after the first `limit` ones
  Row row;
  while (shown.read <= most && rows.next(row)) {
    if (shown.read++ < limit) {
      shown.head.push_back(row);
      continue;
    }
    tail.push_back(row);
    if (tail.size() > tail_length) tail.pop_front();
  }
  if (shown.read > most) return shown;
  shown.count = static_cast<std::int64_t>(shown.read);
  if (shown.read <= limit) return shown;
  // The last rows are those of the tail, and before them the last of the head.
  const auto first = limit - tail_length;
  for (auto n = std::max(first, shown.read - tail_length); n < limit; ++n) shown.tail.push_back(shown.head[n]);
  std::move(tail.begin(), tail.end(), std::back_inserter(shown.tail));
  shown.head.resize(first);
  return shown;
}

}  // namespace

ShownRows ShownRows::of(Result& result, std::size_t limit) {
  if (limit == 0) return all_of(*result.rows);
  const bool is_long =
      result.tensor != nullptr && result.tensor->grid.shape().element_count() > static_cast<std::int64_t>(limit);
  return is_long ? ends_of_tensor(*result.rows, *result.tensor, limit) : ends_of(*result.rows, limit);
}

}  // namespace eindb
