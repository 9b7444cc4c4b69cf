#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parser/ast.hpp"

namespace eindb {

/// CREATE MACRO name(parameters) AS body, or CREATE AGGREGATE.
struct Macro {
  std::string name;
  std::vector<ast::Identifier> parameters;
  ast::Expression body;
  std::optional<ast::AggregateClauses> aggregate = {};  ///< of an aggregate
};
using MacroPtr = std::shared_ptr<const Macro>;

/// Looks up a macro by name, ignoring case; null if there is none.
using FindMacro = std::function<MacroPtr(const std::string& name)>;

/// The most nodes that an expression may have after its macros are expanded.
inline constexpr std::size_t kMaxExpandedNodes = 1'000'000;

/// Whether `e` calls a macro that `find` knows, or an aggregate of a user.
bool calls_macro(const ast::Expression& e, const FindMacro& find);

/// Replaces every macro call in `e` by the macro's body with the arguments in place of the parameters.
///
/// Hygiene: names in the body get the scope of their call (ast::Identifier::scope). So a label of the body never
/// clashes with the caller's, and a tensor of the body is one of the catalog, whatever the caller defines. Arguments
/// keep the scope of the place where they are written. Example: with
///     CREATE MACRO norm(x) AS SQRT(SUM(x[i]^2))
/// in EINSUM Z[i] = X[i] / norm(X) the two i are different labels.
///
/// A parameter used as a label (in SUM[l](...) or x[l]) takes a label; one used as a tensor (x[i]) takes a tensor's
/// name. Nodes of the body get the span of the call. Throws Error with the place of the call: wrong number or kind of
/// arguments, a macro that calls itself, an expansion beyond kMaxExpandedNodes or kMaxNesting. `next_scope` numbers the
/// calls of one statement, from 1.
///
/// name(e) and name[j](e) become nodes with AggregateOp::User where `find` knows an aggregate of that name, and get its
/// definition, in which the parameters are the names "0" and "1" of ast::kCombinedScope.
ast::Expression expand_macros(ast::Expression e, const FindMacro& find, std::uint32_t& next_scope);

/// softmax, layernorm, rmsnorm, silu and gelu; null for other names. `arguments` selects the form: layernorm(x, l) has
/// epsilon 1e-5, layernorm(x, l, epsilon) the given one.
MacroPtr find_builtin_macro(const std::string& name, std::size_t arguments);
/// The macro of two parameters that an aggregate distributes over. Error{UnknownName} or Error{Value} at `span` if
/// there is none.
MacroPtr find_join_macro(const FindMacro& find, const ast::Identifier& name, SourceSpan span);
std::vector<std::string> builtin_macro_names();

}  // namespace eindb
