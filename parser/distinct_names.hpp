#pragma once

#include <set>
#include <string>

#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "parser/ast.hpp"

namespace eindb {

/// The names of a list that has none of them twice; letters of either case are the same.
class DistinctNames {
 public:
  /// `what` they name, for the message: "tensor".
  explicit DistinctNames(std::string what) : what_(std::move(what)) {}

  /// Gives the name back; Error{Syntax} if it has been there.
  ast::Identifier add(ast::Identifier name) {
    if (seen_.insert(to_lower(name.text)).second) return name;
    throw Error(ErrorKind::Syntax, "the " + what_ + " " + name.text + " is given twice", name.span,
                "names are compared without regard to case");
  }

 private:
  std::string what_;
  std::set<std::string> seen_;
};

}  // namespace eindb
