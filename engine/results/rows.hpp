#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/results/result.hpp"

namespace eindb {

/// The columns for the rows of a tensor: its labels, then val. Indices with names are texts.
std::vector<Column> tensor_columns(const std::vector<std::string>& labels, const DimensionNames& names, DType dtype);

/// The cells of a tensor as rows (labels..., val) in row-major order, with the names of indices that have some.
std::unique_ptr<RowSource> tensor_rows(std::shared_ptr<const TensorRelation> tensor);

/// The columns for the rows of several tensors: tensor, key, val.
std::vector<Column> several_columns(const std::vector<DType>& dtypes);

/// The cells of several tensors, one after the other, as rows (name, key as text "(0,3)", val).
std::unique_ptr<RowSource> several_rows(std::vector<std::shared_ptr<const TensorRelation>> tensors);

/// Rows from a list.
std::unique_ptr<RowSource> listed_rows(std::vector<Row> rows);

/// A result with rows from a list.
Result listed_result(std::vector<Column> columns, std::vector<Row> rows);

/// A result without rows, such as "CREATE TENSOR".
Result status_result(std::string status);

}  // namespace eindb
