#include "server/declared_type.hpp"

#include <array>
#include <string>

#include "common/letter_case.hpp"

namespace eindb {
namespace {

using enum DataType;

struct Rule {
  std::string_view word;
  DataType type;
};

constexpr std::array kWhole{
    Rule{"bool", Bool}, Rule{"boolean", Bool}, Rule{"oid", Oid}, Rule{"name text", Name}, Rule{"pgchar", Char},
};
/// The first that is part of the name counts.
constexpr std::array kParts{
    Rule{"int", Int8},    Rule{"char", Text},   Rule{"clob", Text},   Rule{"text", Text},   Rule{"blob", Bytea},
    Rule{"bytea", Bytea}, Rule{"real", Float8}, Rule{"floa", Float8}, Rule{"doub", Float8},
};

}  // namespace

DataType declared_data_type(std::string_view declared) {
  const auto name = to_lower(declared);
  for (const auto& [word, type] : kWhole)
    if (name == word) return type;
  for (const auto& [word, type] : kParts)
    if (name.find(word) != std::string::npos) return type;
  return Text;
}

}  // namespace eindb
