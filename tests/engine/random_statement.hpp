#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tensor/dense_tensor.hpp"

namespace eindb::testing {

/// A tensor that random statements refer to, with its values.
struct KnownTensor {
  std::string name;
  std::shared_ptr<const DenseTensor> values;
};

/// Labels of random statements are numbers; label n is called 'a' + n and always has the same extent.
inline constexpr std::array<std::int64_t, 8> kLabelExtents{1, 2, 3, 2, 3, 4, 2, 4};
std::string label_name(std::size_t label);

/// The point of an expression's evaluation: one index per label.
using Cell = std::array<std::int64_t, kLabelExtents.size()>;

/// A node of a random expression. It is evaluated directly by its definition in double precision, without parser,
/// binder, optimizer or kernels.
struct Node {
  enum class Kind : std::uint8_t { Reference, Constant, LabelValue, Unary, Binary, Case, Aggregate };

  Kind kind = Kind::Constant;
  std::string op;  ///< "+", "SIN", "SUM", ...; BIGGEST and LATEST are aggregates of users
  std::vector<Node> children;
  const KnownTensor* tensor = nullptr;
  std::vector<std::optional<std::size_t>> labels;  ///< of a reference, per dimension; nullopt: selected at an index
  std::vector<std::int64_t> held;
  double constant = 0;
  std::size_t label = 0;          ///< of a LabelValue
  std::vector<std::size_t> over;  ///< of an Aggregate
  bool is_explicit = true;        ///< SUM[a](...) rather than SUM(...)

  std::string text() const;
  /// With `magnitudes`: the values that rounding errors are proportional to, with absolute values in place of values
  /// and differences.
  std::complex<double> value(Cell& cell, bool magnitudes) const;
  /// The labels that occur and are not aggregated, ascending.
  std::vector<std::size_t> free_labels() const;
  bool is_complex() const;
  bool reads_single_precision() const;
};

struct RandomStatement {
  std::string text;
  std::vector<std::size_t> head;  ///< labels in order; a repeated one is a diagonal
  Node expression;
};

/// Generates statements over `tensors`. Deterministic for a given seed.
class StatementGenerator {
 public:
  StatementGenerator(const std::vector<KnownTensor>& tensors, std::uint32_t seed) : tensors_(tensors), random_(seed) {}

  RandomStatement index_notation();
  RandomStatement subscript_notation();

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }
  const KnownTensor& pick_tensor(bool real);
  Node reference(bool real, bool constants);
  Node exact(int references);
  Node expression(int references);
  Node condition();
  Node aggregated(Node argument, std::vector<std::size_t> over, bool is_exact);
  std::vector<std::size_t> shuffled(std::vector<std::size_t> labels);

  const std::vector<KnownTensor>& tensors_;
  std::mt19937 random_;
};

}  // namespace eindb::testing
