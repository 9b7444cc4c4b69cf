#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "parser/macro.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// The value of $1, $2, ...; monostate is NULL. An EINSUM accepts no NULL, text or bytes.
using ParameterValue =
    std::variant<std::monostate, std::int64_t, double, std::complex<double>, std::string, std::vector<std::byte>>;

/// The binder's interface for looking up names. The functions must outlive the call.
struct NameSource {
  /// The tensor of this name (ignoring case), or nullopt.
  std::function<std::optional<InputTensor>(const std::string&)> find_tensor;
  /// All tensors, for suggestions.
  std::function<std::vector<std::string>()> tensor_names;
  /// The user's macro of this name (ignoring case), or null. Built-in macros are found without it.
  FindMacro find_macro = [](const std::string&) { return MacroPtr(); };
  /// All macros of the user, for suggestions.
  std::function<std::vector<std::string>()> macro_names = [] { return std::vector<std::string>(); };
  /// Whether an ordinary table or view has this name, for a better error message.
  std::function<bool(const std::string&)> is_table = [](const std::string&) { return false; };
  /// Whether there is a schema of this name, such as an attached database, for a better error message.
  std::function<bool(const std::string&)> is_schema = [](const std::string&) { return false; };
  /// Entry n is the value of parameter $n + 1.
  std::vector<ParameterValue> parameters = {};
  /// Numbers of the parameters that stay in the graph's expressions, as ScalarExpression::Kind::Parameter, so that one
  /// plan serves all their values. They must be integers or reals, and only the values of cells may depend on them: no
  /// index, extent, seed or type.
  std::set<std::size_t> deferred_parameters = {};
};

}  // namespace eindb
