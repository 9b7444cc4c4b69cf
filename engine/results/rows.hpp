#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/results/result.hpp"

namespace eindb {

/// Columns of the rows of a tensor with these labels: they, then val.
std::vector<Column> tensor_columns(const std::vector<std::string>& labels, DType dtype);

/// The cells of a tensor as rows (labels..., val) in row-major order.
std::unique_ptr<RowSource> tensor_rows(std::shared_ptr<const TensorRelation> tensor);

/// Columns of the rows of several tensors: tensor, key, val.
std::vector<Column> several_columns(const std::vector<DType>& dtypes);

/// The cells of several tensors, one after the other, as rows (name, key as text "(0,3)", val).
std::unique_ptr<RowSource> several_rows(std::vector<std::shared_ptr<const TensorRelation>> tensors);

/// Rows that are there already.
std::unique_ptr<RowSource> listed_rows(std::vector<Row> rows);

/// A result of rows that are there already.
Result listed_result(std::vector<Column> columns, std::vector<Row> rows);

/// A result without rows: "CREATE TENSOR".
Result status_result(std::string status);

}  // namespace eindb
