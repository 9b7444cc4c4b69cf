#include "engine/statements/stored_types.hpp"

#include <string>

#include "common/error.hpp"

namespace eindb {

StoredType stored_type_named(const ast::Identifier& name) {
  if (const auto type = parse_stored_type(name.text)) return *type;
  throw Error(ErrorKind::Type, "there is no type " + name.text, name.span, "use " + stored_type_names());
}

bool can_hold(DType to, DType from) {
  if (is_complex(from)) return is_complex(to);
  return to != DType::Int64 || from == DType::Int64;
}

}  // namespace eindb
