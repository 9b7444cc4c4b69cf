#pragma once

#include <cstddef>

#include "tensor/einsum.hpp"

namespace eindb {

/// The expression of an EinSum with a block function, which is never computed: its operands, and the core
/// labels of each of them and of the result in their order.
ScalarPtr block_expression(std::size_t operands, const Labels& core);

/// The core labels of operand n and of the result, in their order.
Labels core_of(const EinSum& einsum, std::size_t n);
Labels result_core_of(const EinSum& einsum);
/// Whether the label is a core label, or one that a user's aggregate takes in its order, so that no partition vector
/// may cut it.
bool is_whole(const EinSum& einsum, Label label);

/// The number of operations for one batch index, for predictions.
double block_operations(const EinSum& einsum, const LabelTable& table);

}  // namespace eindb
