#include "engine/explain/description_text.hpp"

namespace eindb {

std::string list_text(std::span<const std::int64_t> values) {
  std::string out;
  for (const auto value : values) out += (out.empty() ? "" : ",") + std::to_string(value);
  return "[" + out + "]";
}

std::string names_text(std::span<const std::string> names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

std::string partition_text(std::span<const std::pair<std::string, std::int64_t>> partition) {
  std::string out;
  for (const auto& [label, parts] : partition) out += (out.empty() ? "" : " ") + label + ":" + std::to_string(parts);
  return out.empty() ? "-" : out;
}

std::string value_text(const DescriptionField& field) {
  if (const auto* text = std::get_if<std::string>(&field.value)) return *text;
  return names_text(std::get<std::vector<std::string>>(field.value));
}

}  // namespace eindb
