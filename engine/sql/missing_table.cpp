#include "engine/sql/missing_table.hpp"

namespace eindb {

std::optional<std::string> text_between(std::string_view message, std::string_view before, std::string_view after) {
  if (message.size() < before.size() + after.size()) return std::nullopt;
  if (!message.starts_with(before) || !message.ends_with(after)) return std::nullopt;
  return std::string(message.substr(before.size(), message.size() - before.size() - after.size()));
}

std::optional<std::string> missing_table(const Error& error) {
  return text_between(error.message(), "no such table: ", "");
}

std::string without_schema(const std::string& name) {
  const auto dot = name.find('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

bool show_missing(const Error& error, TensorTables& tensors) {
  const auto name = missing_table(error);
  return name && (tensors.show(*name) || tensors.show(without_schema(*name)));
}

}  // namespace eindb
