#pragma once

#include "parser/ast.hpp"
#include "tensor/stored_type.hpp"

namespace eindb {

/// The type of stored tensors with that name; Error{Type} at its place.
StoredType stored_type_named(const ast::Identifier& name);

/// Whether `to` can represent the kind of all values of `from`: no imaginary part and no fraction is lost.
bool can_hold(DType to, DType from);

}  // namespace eindb
