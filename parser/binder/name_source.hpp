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

/// The value of $1, $2, ...; monostate is NULL. That, text and bytes have no place in an EINSUM.
using ParameterValue =
    std::variant<std::monostate, std::int64_t, double, std::complex<double>, std::string, std::vector<std::byte>>;

/// What the binder asks the world about names. The functions must outlive the call.
struct NameSource {
  /// The tensor of this name (without regard to case), if there is one.
  std::function<std::optional<InputTensor>(const std::string&)> find_tensor;
  /// All tensors, for suggestions.
  std::function<std::vector<std::string>()> tensor_names;
  /// The user's macro of this name (without regard to case), or null. Built-in macros are found without it.
  FindMacro find_macro = [](const std::string&) { return MacroPtr(); };
  /// All macros of the user, for suggestions.
  std::function<std::vector<std::string>()> macro_names = [] { return std::vector<std::string>(); };
  /// Whether the name is that of an ordinary table or view, for the message that it is no tensor.
  std::function<bool(const std::string&)> is_table = [](const std::string&) { return false; };
  /// Value n is that of parameter $n + 1.
  std::vector<ParameterValue> parameters = {};
  /// Numbers of the parameters that stay in the graph's expressions, as ScalarExpression::Kind::Parameter, so that one
  /// plan serves all their values. They are given integers or reals, and nothing but the value of a cell may depend
  /// on them: no index, extent, seed or type.
  std::set<std::size_t> deferred_parameters = {};
};

}  // namespace eindb
