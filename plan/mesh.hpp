#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eindb {

struct MeshAxis {
  std::string name;
  std::int64_t size = 1;

  friend bool operator==(const MeshAxis&, const MeshAxis&) = default;
};

/// The ranks of a cluster as a grid of named axes, {x:4, y:6} (array redistribution, section 2.1). The first axis
/// varies fastest: rank = i_x + 4 i_y. So splitting an axis into neighbouring ones, minor first, keeps the numbers of
/// the ranks. Invariants: names are distinct identifiers; sizes are at least 1; there are at most kMaxRanks ranks.
class Mesh {
 public:
  static constexpr std::int64_t kMaxRanks = 65536;

  Mesh() = default;
  /// Throws Error{Value} if an invariant does not hold.
  explicit Mesh(std::vector<MeshAxis> axes);
  /// Axes x0, x1, ... whose sizes are the prime factors of `ranks`, the smallest first: {x0:2, x1:2, x2:3} for 12. Over
  /// these axes kernel calls are laid out (optimizer/partitions/placement). Throws Error{Value} for too many ranks.
  static Mesh of_primes(std::int64_t ranks);
  /// Parses "{x:4, y:6}". Throws Error{Syntax} or Error{Value}, with the place in the text.
  static Mesh parse(std::string_view text);

  const std::vector<MeshAxis>& axes() const { return axes_; }
  const MeshAxis& operator[](std::size_t axis) const { return axes_[axis]; }
  std::int64_t rank_count() const { return rank_count_; }
  /// The axis of that name.
  std::optional<std::size_t> find(std::string_view name) const;
  /// The coordinate of `rank` along `axis`.
  std::int64_t coordinate(std::int64_t rank, std::size_t axis) const;

  /// The same ranks with axes of prime sizes: x:4 becomes x.0:2, x.1:2, minor first. Axes of size 1 are dropped, and
  /// axes of prime size keep their name.
  Mesh factored() const;
  std::string to_string() const;

  friend bool operator==(const Mesh& a, const Mesh& b) { return a.axes_ == b.axes_; }

 private:
  std::vector<MeshAxis> axes_;
  std::vector<std::int64_t> strides_;
  std::int64_t rank_count_ = 1;
};

}  // namespace eindb
