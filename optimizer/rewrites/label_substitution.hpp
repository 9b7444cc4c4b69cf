#pragma once

#include <functional>

#include "tensor/label.hpp"
#include "tensor/scalar_expression.hpp"

namespace eindb {

/// What stands for the value of a label: a label index of another label, or a constant.
using LabelValue = std::function<ScalarPtr(Label)>;
using LabelRenaming = std::function<Label(Label)>;

/// The expression with every label renamed.
ScalarPtr rename_labels(const ScalarPtr& e, const LabelRenaming& to);
Labels rename_labels(const Labels& labels, const LabelRenaming& to);

/// The expression with the values of labels replaced. RANDOM's cells stay: callers see to it that they have none of the
/// labels that are replaced by constants.
ScalarPtr replace_label_values(const ScalarPtr& e, const LabelValue& value);

/// Distinct labels of RANDOM's and RANDN's cells.
Labels random_labels_of(const ScalarExpression& e);

}  // namespace eindb
