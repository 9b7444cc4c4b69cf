#pragma once

#include <functional>

#include "tensor/label.hpp"
#include "tensor/scalar_expression.hpp"

namespace eindb {

/// The replacement for a label's value: a label index of another label, or a constant.
using LabelValue = std::function<ScalarPtr(Label)>;
using LabelRenaming = std::function<Label(Label)>;

/// The expression with every label renamed.
ScalarPtr rename_labels(const ScalarPtr& e, const LabelRenaming& to);
Labels rename_labels(const Labels& labels, const LabelRenaming& to);

/// The expression with the values of labels replaced. The cells of RANDOM do not change: callers ensure that they have
/// none of the labels replaced by constants.
ScalarPtr replace_label_values(const ScalarPtr& e, const LabelValue& value);

/// Distinct labels of RANDOM's and RANDN's cells.
Labels random_labels_of(const ScalarExpression& e);

}  // namespace eindb
