#include "plan/mesh.hpp"

#include <algorithm>

#include "common/divisors.hpp"
#include "common/error.hpp"
#include "plan/type_text_reader.hpp"

namespace eindb {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::Value, what); }

bool names(const std::vector<MeshAxis>& axes, std::string_view name) {
  return std::any_of(axes.begin(), axes.end(), [&](const MeshAxis& axis) { return axis.name == name; });
}

}  // namespace

Mesh::Mesh(std::vector<MeshAxis> axes) : axes_(std::move(axes)) {
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const auto& [name, size] = axes_[a];
    if (name.empty()) refuse("an axis of a mesh has no name");
    if (size < 1) refuse("axis " + name + " of a mesh has size " + std::to_string(size));
    if (*find(name) != a) refuse("a mesh has two axes named " + name);
    if (size > kMaxRanks / rank_count_) refuse("a mesh has more than " + std::to_string(kMaxRanks) + " ranks");
    strides_.push_back(rank_count_);
    rank_count_ *= size;
  }
}

Mesh Mesh::of_primes(std::int64_t ranks) {
  std::vector<MeshAxis> axes;
  for (const auto prime : prime_factors(ranks)) axes.push_back({"x" + std::to_string(axes.size()), prime});
  return Mesh(std::move(axes));
}

Mesh Mesh::parse(std::string_view text) {
  TypeTextReader reader(text);
  std::vector<MeshAxis> axes;
  reader.expect('{', "before the axes of a mesh");
  while (!reader.take('}')) {
    if (!axes.empty()) reader.expect(',', "or '}' after an axis");
    std::string name(reader.name("the name of an axis"));
    reader.expect(':', "after the name of an axis");
    axes.push_back({std::move(name), reader.number("the size of an axis")});
  }
  reader.expect_end();
  return with_place({0, text.size()}, [&] { return Mesh(std::move(axes)); });
}

std::optional<std::size_t> Mesh::find(std::string_view name) const {
  for (std::size_t a = 0; a < axes_.size(); ++a)
    if (axes_[a].name == name) return a;
  return std::nullopt;
}

std::int64_t Mesh::coordinate(std::int64_t rank, std::size_t axis) const {
  return rank / strides_[axis] % axes_[axis].size;
}

Mesh Mesh::factored() const {
  std::vector<MeshAxis> out;
  for (const auto& axis : axes_) {
    const auto primes = prime_factors(axis.size);
    for (std::size_t k = 0; k < primes.size(); ++k) {
      auto name = axis.name;
      if (primes.size() > 1) {
        const auto number = std::to_string(k);
        do name += ".";
        while (names(axes_, name + number) || names(out, name + number));
        name += number;
      }
      out.push_back({std::move(name), primes[k]});
    }
  }
  return Mesh(std::move(out));
}

std::string Mesh::to_string() const {
  std::string out;
  for (const auto& axis : axes_) out += (out.empty() ? "" : ", ") + axis.name + ":" + std::to_string(axis.size);
  return "{" + out + "}";
}

}  // namespace eindb
