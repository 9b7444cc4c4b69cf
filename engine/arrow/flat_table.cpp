// A FlatBuffer begins with the position of its root table. A table begins with the distance back to its vtable, which
// has its own size and that of the table (2 bytes each), and then for each field its place in the table, or 0. A
// reference is the distance from itself to a table, a text or a list, of which the last two begin with their length.

#include "engine/arrow/flat_table.hpp"

#include "common/error.hpp"

namespace eindb {

FlatTable FlatTable::root(std::span<const std::byte> bytes, const std::string& name) {
  FlatTable start(bytes, 0, name);
  return {bytes, start.target(0), name};
}

FlatTable::FlatTable(std::span<const std::byte> bytes, std::size_t at, const std::string& name)
    : bytes_(bytes), at_(at), name_(&name) {
  if (at == 0) return;  // no table lies at the beginning, where the position of the root is
  const auto vtable = static_cast<std::int64_t>(at) - load<std::int32_t>(at);
  if (vtable < 0) fail();
  vtable_ = static_cast<std::size_t>(vtable);
  vtable_size_ = load<std::uint16_t>(vtable_);
  if (vtable_size_ < 4 || vtable_size_ % 2 != 0 || vtable_ + vtable_size_ > bytes_.size()) fail();
}

void FlatTable::fail() const {
  throw Error(ErrorKind::Corrupt, *name_ + " is no valid file of Arrow: its metadata are damaged");
}

std::optional<std::size_t> FlatTable::place(int field) const {
  const auto entry = 4 + 2 * static_cast<std::size_t>(field);
  if (entry + 2 > vtable_size_) return std::nullopt;
  const auto offset = load<std::uint16_t>(vtable_ + entry);
  if (offset == 0) return std::nullopt;
  return at_ + offset;
}

std::size_t FlatTable::target(std::size_t at) const {
  const auto distance = load<std::uint32_t>(at);
  if (distance == 0 || distance >= bytes_.size() - at) fail();
  return at + distance;
}

std::optional<FlatTable> FlatTable::table(int field) const {
  const auto at = place(field);
  if (!at) return std::nullopt;
  return FlatTable(bytes_, target(*at), *name_);
}

std::string FlatTable::text(int field) const {
  const auto at = place(field);
  if (!at) return {};
  const auto begin = target(*at);
  const auto size = load<std::uint32_t>(begin);
  if (size > bytes_.size() - begin - 4) fail();
  return {reinterpret_cast<const char*>(bytes_.data()) + begin + 4, size};
}

FlatTable::List FlatTable::structs(int field, std::size_t size) const {
  const auto at = place(field);
  if (!at) return {*this, 0, 0, size};
  const auto begin = target(*at);
  const auto count = load<std::uint32_t>(begin);
  if (count > (bytes_.size() - begin - 4) / size) fail();
  return {*this, begin + 4, count, size};
}

FlatTable FlatTable::List::table(std::size_t n) const {
  return {of_.bytes_, of_.target(begin_ + n * size_), *of_.name_};
}

}  // namespace eindb
