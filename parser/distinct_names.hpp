#pragma once

#include <set>
#include <string>

#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "parser/ast.hpp"

namespace eindb {

/// A list of names without duplicates, ignoring case.
class DistinctNames {
 public:
  /// `what` is the kind of object for the message: "tensor".
  explicit DistinctNames(std::string what) : what_(std::move(what)) {}

  /// Returns the name; Error{Syntax} if it was added before.
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
