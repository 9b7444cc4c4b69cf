#include "plan/mesh_of_types.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "plan/type_text_reader.hpp"
#include "tensor/partition.hpp"

namespace eindb {
namespace {

// The fewest parts of which the largest has this size; nullopt if there are none.
std::optional<std::int64_t> fewest_parts(std::int64_t extent, std::int64_t local) {
  if (local < 1) return extent == 0 && local == 0 ? std::optional<std::int64_t>(1) : std::nullopt;
  const auto parts = extent / local + (extent % local != 0 ? 1 : 0);
  if (parts < 1 || largest_part(extent, parts) != local) return std::nullopt;
  return parts;
}

MeshAxis& axis_named(std::vector<MeshAxis>& axes, const std::string& name) {
  const auto found = std::find_if(axes.begin(), axes.end(), [&](const auto& axis) { return axis.name == name; });
  return *found;
}

}  // namespace

void MeshOfTypes::read_dimension(TypeTextReader& reader) {
  const auto local = reader.number("the size of a dimension");
  const auto begin = reader.last().begin;
  if (!reader.take('{')) return;
  CutDimension dimension;
  while (!reader.take('}')) {
    if (!dimension.axes.empty()) reader.expect(',', "or '}' after the name of an axis");
    dimension.axes.emplace_back(reader.name("the name of an axis"));
  }
  const auto extent = reader.number("the global size after '}'");
  const auto parts = fewest_parts(extent, local);
  if (!parts) {
    throw Error(ErrorKind::Shape,
                "size " + std::to_string(extent) + " is not cut into parts of size " + std::to_string(local) +
                    " by any number of parts",
                SourceSpan{begin, reader.last().end});
  }
  dimension.parts = *parts;
  if (!dimension.axes.empty()) dimensions_.push_back(std::move(dimension));
}

void MeshOfTypes::read(std::string_view text) {
  TypeTextReader reader(text);
  reader.expect('[', "before the dimensions of a type");
  for (bool first = true; !reader.take(']'); first = false) {
    if (!first) reader.expect(',', "or ']' after a dimension");
    read_dimension(reader);
  }
  reader.expect_end();
}

// Gives the one axis of a dimension that has no size (0) yet the rest of the parts. Whether it did.
bool MeshOfTypes::settle(const CutDimension& dimension, std::vector<MeshAxis>& axes) {
  MeshAxis* open = nullptr;
  std::int64_t known = 1;
  for (const auto& name : dimension.axes) {
    auto& axis = axis_named(axes, name);
    if (axis.size > 0) {
      known *= std::min(axis.size, Mesh::kMaxRanks);
      if (known > Mesh::kMaxRanks) return false;
      continue;
    }
    if (open != nullptr) return false;
    open = &axis;
  }
  if (open == nullptr || dimension.parts % known != 0) return false;
  open->size = dimension.parts / known;
  return true;
}

Mesh MeshOfTypes::mesh() const {
  std::vector<MeshAxis> axes;
  for (const auto& dimension : dimensions_)
    for (const auto& name : dimension.axes)
      if (std::none_of(axes.begin(), axes.end(), [&](const auto& axis) { return axis.name == name; }))
        axes.push_back({name, 0});
  while (std::any_of(dimensions_.begin(), dimensions_.end(), [&](const auto& d) { return settle(d, axes); })) {
  }
  for (const auto& axis : axes)
    if (axis.size == 0)
      throw Error(ErrorKind::Value, "the types leave the size of axis " + axis.name + " open", std::nullopt,
                  "say it: ON '{" + axis.name + ":2, ...}'");
  return Mesh(std::move(axes));
}

}  // namespace eindb
