#pragma once

#include <eindb/arrow.hpp>

#include "engine/arrow/arrow_values.hpp"

namespace eindb {

/// Fills a struct of Arrow's, which then owns all of it until its release callback is called. The struct may be moved,
/// and so may its children.
void hand_over(const ArrowField& field, ArrowSchema& out);
void hand_over(ArrowValues values, ArrowArray& out);

}  // namespace eindb
