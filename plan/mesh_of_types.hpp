#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/mesh.hpp"

namespace eindb {

/// Finds the mesh that texts of distributed types are over, as far as they tell: each axis has the smallest size that
/// gives the local sizes of the dimensions that it cuts. Axes are in the order in which they occur. Used by one thread.
///
/// Example: [3{x}12, 2{y}12] and [2{y}12, 3{x}12] are over {x:4, y:6}.
class MeshOfTypes {
 public:
  /// Error{Syntax}, or Error{Shape} for sizes that no number of parts gives, with the place in the text.
  void read(std::string_view text);
  /// Of what was read. Error{Value} where sizes contradict each other, or leave the size of an axis open.
  Mesh mesh() const;

 private:
  // A dimension that axes cut, as it is written.
  struct CutDimension {
    std::vector<std::string> axes;
    std::int64_t parts = 1;  // the fewest that give the local size
  };

  void read_dimension(class TypeTextReader& reader);
  static bool settle(const CutDimension& dimension, std::vector<MeshAxis>& axes);

  std::vector<CutDimension> dimensions_;
};

}  // namespace eindb
