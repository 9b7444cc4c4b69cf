#include "server/values/array_parameter.hpp"

#include <variant>

#include "common/error.hpp"
#include "engine/dialect/array_text.hpp"
#include "server/protocol/body_reader.hpp"
#include "server/values/value_format.hpp"

namespace eindb {
namespace {

std::string parameter_text(const ParameterInput& value) {
  std::string text;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) append_sql_number(text, *integer);
  else if (const auto* real = std::get_if<double>(&value)) append_sql_number(text, *real);
  else if (const auto* plain = std::get_if<std::string>(&value)) text = *plain;
  return text;
}

/// Whether values of both types are kept in the same form: integers of all widths, reals, texts.
bool are_alike(DataType a, DataType b) {
  using enum DataType;
  const auto kind = [](DataType type) {
    switch (type) {
      case Int2:
      case Int4: return Int8;
      case Float4: return Float8;
      case Varchar:
      case BpChar: return Text;
      default: return type;
    }
  };
  return kind(a) == kind(b) && find_data_type(a) != nullptr;
}

ArrayElements read_elements(BodyReader& reader, DataType element, std::int32_t count) {
  ArrayElements elements;
  for (std::int32_t n = 0; n < count; ++n) {
    if (const auto value = reader.value())
      elements.emplace_back(parameter_text(read_value(*value, element, frontend::Format::Binary)));
    else elements.emplace_back();
  }
  return elements;
}

}  // namespace

std::string read_binary_array(std::string_view value, DataType type) {
  BodyReader reader(value);
  const auto dimensions = reader.integer<std::int32_t>();
  reader.integer<std::int32_t>();  // flag for NULLs
  const auto element = static_cast<DataType>(reader.integer<std::int32_t>());
  if (!are_alike(element, element_type(type)))
    throw ProtocolError("an array has elements of another type than its parameter", "42804");
  if (dimensions == 0) return "{}";
  if (dimensions != 1)
    throw Error(ErrorKind::Unsupported, "parameters that are arrays have one dimension", std::nullopt,
                "send a text of PostgreSQL's form: {{1,2},{3,4}}");
  const auto count = reader.integer<std::int32_t>();
  reader.integer<std::int32_t>();  // lowest index
  const auto elements = read_elements(reader, element, count);
  reader.end();
  return write_array(elements);
}

}  // namespace eindb
