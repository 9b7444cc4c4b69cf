#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/result.hpp"

namespace eindb {

/// Columns of the rows of a tensor with these labels: they, then val.
std::vector<Column> tensor_columns(const std::vector<std::string>& labels, DType dtype);

/// The cells of a tensor as rows (labels..., val) in row-major order.
std::unique_ptr<RowSource> tensor_rows(std::shared_ptr<const TensorRelation> tensor);

/// Rows that are there already.
std::unique_ptr<RowSource> listed_rows(std::vector<Row> rows);

/// A result of rows that are there already.
Result listed_result(std::vector<Column> columns, std::vector<Row> rows);

/// A result without rows: "CREATE TENSOR".
Result status_result(std::string status);

}  // namespace eindb
