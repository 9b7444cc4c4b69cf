#include "common/error.hpp"
#include "engine/statements.hpp"

namespace eindb {

Result execute_statement(const ast::UpdateTensor&, SessionState&) {
  throw Error(ErrorKind::Internal, "it is not there yet");
}

}  // namespace eindb
