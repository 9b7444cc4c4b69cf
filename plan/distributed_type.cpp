#include "plan/distributed_type.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/divisors.hpp"
#include "common/error.hpp"
#include "plan/type_text_reader.hpp"

namespace eindb {
namespace {

// Parses one dimension of a type, and checks its sizes.
class DimensionReader {
 public:
  DimensionReader(TypeTextReader& reader, const Mesh& mesh) : reader_(reader), mesh_(mesh) {}

  DistributedDimension read() {
    const auto local = reader_.number("the size of a dimension");
    const auto begin = reader_.last().begin;
    DistributedDimension dimension{local, {}};
    if (!reader_.take('{')) return dimension;
    read_axes(dimension.axes);
    dimension.extent = reader_.number("the global size after '}'");
    check_sizes(local, dimension, {begin, reader_.last().end});
    return dimension;
  }

 private:
  void read_axes(std::vector<std::size_t>& axes) {
    while (!reader_.take('}')) {
      if (!axes.empty()) reader_.expect(',', "or '}' after the name of an axis");
      const std::string name(reader_.name("the name of an axis"));
      const auto axis = mesh_.find(name);
      if (!axis)
        throw Error(ErrorKind::UnknownName, "the mesh " + mesh_.to_string() + " has no axis " + name, reader_.last());
      axes.push_back(*axis);
    }
  }

  void check_sizes(std::int64_t local, const DistributedDimension& dimension, SourceSpan place) const {
    std::int64_t parts = 1;
    for (const auto axis : dimension.axes) parts = checked_multiply(parts, mesh_[axis].size);
    if (local == largest_part(dimension.extent, parts)) return;
    throw Error(ErrorKind::Shape,
                "size " + std::to_string(dimension.extent) + " in " + std::to_string(parts) +
                    " parts has parts of size " + std::to_string(largest_part(dimension.extent, parts)) + ", not " +
                    std::to_string(local),
                place);
  }

  TypeTextReader& reader_;
  const Mesh& mesh_;
};

// The axes that cut one dimension, derived from the distance of one step along each axis.
struct AxisStride {
  std::size_t axis = 0;
  std::int64_t stride = 0;
};

// The rank at place 1 of each axis and place 0 of all others.
std::vector<std::size_t> unit_ranks(const Mesh& mesh) {
  std::vector<std::size_t> ranks;
  std::size_t stride = 1;
  for (const auto& axis : mesh.axes()) {
    ranks.push_back(axis.size > 1 ? stride : 0);
    stride *= static_cast<std::size_t>(axis.size);
  }
  return ranks;
}

std::vector<TileKey> keys_of_holders(const BlockPlacement& placement) {
  std::vector<TileKey> keys;
  for (const auto& key : placement.at)
    if (key) keys.push_back(*key);
  return keys;
}

// The axis with the shortest stride is the minor one.
std::vector<DistributedDimension> dimensions_cut(const Shape& shape, std::vector<std::vector<AxisStride>>& cuts) {
  std::vector<DistributedDimension> dimensions;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    std::sort(cuts[d].begin(), cuts[d].end(), [](const auto& a, const auto& b) { return a.stride < b.stride; });
    dimensions.push_back({shape[d], {}});
    for (const auto& cut : cuts[d]) dimensions.back().axes.push_back(cut.axis);
  }
  return dimensions;
}

// Whether the axes, each used at most once, cut the dimensions into these parts.
bool are_parts(const std::vector<DistributedDimension>& dimensions, const Mesh& mesh, const Partition& parts) {
  std::vector<bool> used(mesh.axes().size(), false);
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    std::int64_t count = 1;
    for (const auto axis : dimensions[d].axes) {
      if (used[axis]) return false;
      used[axis] = true;
      count *= mesh[axis].size;
    }
    if (count != parts[d]) return false;
  }
  return true;
}

}  // namespace

DistributedType::DistributedType(Mesh mesh, std::vector<DistributedDimension> dimensions,
                                 std::vector<std::size_t> first_only)
    : mesh_(std::move(mesh)), dimensions_(std::move(dimensions)), first_only_(std::move(first_only)) {
  std::vector<bool> used(mesh_.axes().size(), false);
  const auto use = [&](std::size_t axis) {
    CHECK(axis < used.size(), "a type has axes of its mesh");
    if (used[axis]) throw Error(ErrorKind::Value, "axis " + mesh_[axis].name + " cuts a tensor twice");
    used[axis] = true;
  };
  for (const auto& dimension : dimensions_) std::for_each(dimension.axes.begin(), dimension.axes.end(), use);
  std::for_each(first_only_.begin(), first_only_.end(), use);
  // Each dimension refuses more parts than it has indices. All together, spaces of labels may have more points than can
  // be counted: of cells few are visited.
  for (const auto& dimension : dimensions_) TileGrid(Shape({dimension.extent}), {parts_of(dimension)});
}

DistributedType DistributedType::parse(std::string_view text, const Mesh& mesh) {
  TypeTextReader reader(text);
  std::vector<DistributedDimension> dimensions;
  reader.expect('[', "before the dimensions of a type");
  while (!reader.take(']')) {
    if (!dimensions.empty()) reader.expect(',', "or ']' after a dimension");
    dimensions.push_back(DimensionReader(reader, mesh).read());
  }
  reader.expect_end();
  return with_place({0, text.size()}, [&] {
    DistributedType type(mesh, std::move(dimensions));
    type.global_shape();  // of a tensor, whose elements are counted
    return type;
  });
}

std::int64_t DistributedType::parts_of(const DistributedDimension& dimension) const {
  std::int64_t parts = 1;
  for (const auto axis : dimension.axes) parts *= mesh_[axis].size;
  return parts;
}

Shape DistributedType::global_shape() const {
  std::vector<std::int64_t> extents;
  for (const auto& dimension : dimensions_) extents.push_back(dimension.extent);
  return Shape(std::move(extents));
}

Shape DistributedType::local_shape() const {
  std::vector<std::int64_t> extents;
  for (const auto& dimension : dimensions_) extents.push_back(largest_part(dimension.extent, parts_of(dimension)));
  return Shape(std::move(extents));
}

Partition DistributedType::parts() const {
  Partition parts;
  for (const auto& dimension : dimensions_) parts.push_back(parts_of(dimension));
  return parts;
}

BlockPlacement DistributedType::placement() const {
  BlockPlacement out{parts(), {}};
  for (std::int64_t rank = 0; rank < mesh_.rank_count(); ++rank) {
    const auto is_beyond = [&](std::size_t axis) { return mesh_.coordinate(rank, axis) > 0; };
    if (std::any_of(first_only_.begin(), first_only_.end(), is_beyond)) {
      out.at.emplace_back();
      continue;
    }
    TileKey key;
    for (const auto& dimension : dimensions_) {
      std::int64_t part = 0;
      for (auto axis = dimension.axes.rbegin(); axis != dimension.axes.rend(); ++axis)
        part = part * mesh_[*axis].size + mesh_.coordinate(rank, *axis);
      key.push_back(part);
    }
    out.at.emplace_back(std::move(key));
  }
  return out;
}

BlockPlacement DistributedType::placement(std::size_t total) const {
  auto out = placement();
  CHECK(out.at.size() <= total, "every rank of a mesh is one of the cluster's");
  out.at.resize(total);
  return out;
}

BlockPlacement DistributedType::placement(std::span<const Rank> ranks, std::size_t total) const {
  auto on_mesh = placement();
  CHECK(ranks.size() == on_mesh.at.size(), "every rank of a mesh is one of the cluster's");
  BlockPlacement out{std::move(on_mesh.parts), std::vector<std::optional<TileKey>>(total)};
  for (std::size_t n = 0; n < ranks.size(); ++n) out.at[ranks[n]] = std::move(on_mesh.at[n]);
  return out;
}

DistributedType DistributedType::factored() const {
  auto mesh = mesh_.factored();
  std::vector<std::size_t> first;  // for each axis of mesh_, the first of its factors
  std::size_t next = 0;
  for (const auto& axis : mesh_.axes()) {
    first.push_back(next);
    next += prime_factors(axis.size).size();
  }
  first.push_back(next);
  const auto primes_of = [&](const std::vector<std::size_t>& axes) {
    std::vector<std::size_t> primes;
    for (const auto axis : axes)
      for (auto prime = first[axis]; prime < first[axis + 1]; ++prime) primes.push_back(prime);
    return primes;
  };
  auto dimensions = dimensions_;
  for (auto& dimension : dimensions) dimension.axes = primes_of(dimension.axes);
  return {std::move(mesh), std::move(dimensions), primes_of(first_only_)};
}

std::string DistributedType::to_string() const {
  std::string out;
  for (const auto& dimension : dimensions_) {
    out += (out.empty() ? "" : ", ") + std::to_string(largest_part(dimension.extent, parts_of(dimension)));
    if (dimension.axes.empty()) continue;
    std::string names;
    for (const auto axis : dimension.axes) names += (names.empty() ? "" : ",") + mesh_[axis].name;
    out += "{" + names + "}" + std::to_string(dimension.extent);
  }
  out = "[" + out + "]";
  for (std::size_t n = 0; n < first_only_.size(); ++n)
    out += (n == 0 ? " at " : ",") + mesh_[first_only_[n]].name + "=0";
  return out;
}

std::optional<DistributedType> type_of(const BlockPlacement& placement, const Shape& shape, const Mesh& mesh) {
  const auto keys = keys_of_holders(placement);
  if (keys.size() != static_cast<std::size_t>(mesh.rank_count())) return std::nullopt;
  std::vector<std::vector<AxisStride>> cuts(shape.rank());
  const auto units = unit_ranks(mesh);
  for (std::size_t axis = 0; axis < units.size(); ++axis)
    for (std::size_t d = 0; d < shape.rank(); ++d)
      if (const auto stride = keys[units[axis]][d]; stride != 0) cuts[d].push_back({axis, stride});
  auto dimensions = dimensions_cut(shape, cuts);
  if (!are_parts(dimensions, mesh, placement.parts)) return std::nullopt;
  DistributedType type(mesh, std::move(dimensions));
  return keys_of_holders(type.placement()) == keys ? std::optional(std::move(type)) : std::nullopt;
}

}  // namespace eindb
