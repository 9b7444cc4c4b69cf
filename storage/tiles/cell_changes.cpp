#include "storage/tiles/cell_changes.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/check.hpp"

namespace eindb {

CellChanges::CellChanges(DType type, CellList cells) : type_(type), size_(size_of(type)), cells_(std::move(cells)) {
  CHECK(cells_.values.size() == cells_.numbers.size() * size_, "each cell of a list has a value");
}

std::byte* CellChanges::find(std::uint32_t number) {
  const auto& numbers = cells_.numbers;
  const auto found = std::lower_bound(numbers.begin(), numbers.end(), number);
  if (found != numbers.end() && *found == number)
    return cells_.values.data() + static_cast<std::size_t>(found - numbers.begin()) * size_;
  const auto added = added_.find(number);
  return added == added_.end() ? nullptr : values_.data() + added->second;
}

std::byte* CellChanges::at(std::uint32_t number) {
  if (auto* known = find(number)) return known;
  const auto place = values_.size();
  values_.resize(place + size_);
  added_.emplace(number, place);
  return values_.data() + place;
}

void CellChanges::clear(std::uint32_t first, std::uint32_t end) {
  const auto& numbers = cells_.numbers;
  const auto begin = std::lower_bound(numbers.begin(), numbers.end(), first) - numbers.begin();
  const auto behind = std::lower_bound(numbers.begin() + begin, numbers.end(), end) - numbers.begin();
  std::memset(cells_.values.data() + static_cast<std::size_t>(begin) * size_, 0,
              static_cast<std::size_t>(behind - begin) * size_);
  const auto clear_added = [&](const auto& added) { std::memset(values_.data() + added.second, 0, size_); };
  if (end - first < added_.size()) {
    for (auto number = first; number < end; ++number)
      if (const auto added = added_.find(number); added != added_.end()) clear_added(*added);
  } else {
    for (const auto& added : added_)
      if (first <= added.first && added.first < end) clear_added(added);
  }
}

std::int64_t CellChanges::byte_size() const {
  constexpr std::size_t kMapEntryBytes = 48;
  const auto bytes = cells_.numbers.size() * (sizeof(std::uint32_t) + size_) + added_.size() * (kMapEntryBytes + size_);
  return static_cast<std::int64_t>(bytes);
}

CellList CellChanges::take() {
  if (added_.empty()) return std::move(cells_);
  std::vector<std::pair<std::uint32_t, std::size_t>> added(added_.begin(), added_.end());
  std::sort(added.begin(), added.end());
  CellList all;
  all.numbers.reserve(cells_.numbers.size() + added.size());
  all.values.reserve(all.numbers.capacity() * size_);
  const auto append = [&](std::uint32_t number, const std::byte* value) {
    all.numbers.push_back(number);
    all.values.insert(all.values.end(), value, value + size_);
  };
  auto next = added.begin();
  for (std::size_t n = 0; n < cells_.numbers.size(); ++n) {
    for (; next != added.end() && next->first < cells_.numbers[n]; ++next)
      append(next->first, values_.data() + next->second);
    append(cells_.numbers[n], cells_.values.data() + n * size_);
  }
  for (; next != added.end(); ++next) append(next->first, values_.data() + next->second);
  return all;
}

Tile CellChanges::expand(const Shape& shape) {
  auto tile = Tile::zeros(type_, shape);
  const auto bytes = tile.mutable_bytes();
  const auto put = [&](std::uint32_t number, const std::byte* value) {
    CHECK(number * size_ < bytes.size(), "a cell lies in its tile");
    std::memcpy(bytes.data() + number * size_, value, size_);
  };
  for (std::size_t n = 0; n < cells_.numbers.size(); ++n) put(cells_.numbers[n], cells_.values.data() + n * size_);
  for (const auto& [number, place] : added_) put(number, values_.data() + place);
  return tile;
}

}  // namespace eindb
