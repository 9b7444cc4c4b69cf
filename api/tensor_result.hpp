#pragma once

#include <eindb/eindb.hpp>
#include <memory>

#include "engine/results/result.hpp"

namespace eindb {

TensorResult tensor_result(std::shared_ptr<const TensorRelation> relation);

}  // namespace eindb
