#include "server/console/message_events.hpp"

#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/statement_text.hpp"
#include "server/protocol/body_reader.hpp"
#include "server/values/data_type.hpp"

namespace eindb {
namespace {

using OrderedJson = nlohmann::ordered_json;

// The greatest integer up to which a FLOAT64, as which browsers read numbers, has all others.
constexpr std::int64_t kGreatestExact = (std::int64_t{1} << 53U) - 1;

std::string json_text(std::string_view text) { return OrderedJson(replace_invalid_utf8(text)).dump(); }

bool is_exact_integer(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number <= kGreatestExact &&
         number >= -kGreatestExact;
}

// PostgreSQL's text of a finite number is one of JSON.
bool is_finite_number(std::string_view text) {
  const auto first = text.starts_with('-') ? text.substr(1, 1) : text.substr(0, 1);
  return !first.empty() && first[0] >= '0' && first[0] <= '9';
}

std::string json_value(std::int32_t type, std::string_view text) {
  switch (static_cast<DataType>(type)) {
    case DataType::Int2:
    case DataType::Int4:
    case DataType::Int8:
    case DataType::Oid:
      if (is_exact_integer(text)) return std::string(text);
      break;
    case DataType::Float4:
    case DataType::Float8:
      if (is_finite_number(text)) return std::string(text);
      break;
    case DataType::Bool: return text == "t" ? "true" : "false";
    default: break;
  }
  if (text.size() <= MessageEvents::kMostTextBytes) return json_text(text);
  return R"({"cut":)" + json_text(text.substr(0, MessageEvents::kMostTextBytes)) + R"(,"bytes":)" +
         std::to_string(text.size()) + "}";
}

std::int64_t number_in_text(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::string MessageEvents::begin(std::size_t number, std::size_t position) {
  position_ = position;
  types_.clear();
  rows_ = 0;
  over_ = false;
  failed_ = false;
  copies_in_ = false;
  return OrderedJson{{"statement", number}, {"position", position}}.dump() + "\n";
}

std::string MessageEvents::translate(std::string_view messages) {
  BodyReader reader(messages);
  while (!reader.at_end()) {
    const auto type = static_cast<char>(reader.integer<std::uint8_t>());
    const auto length = reader.integer<std::int32_t>();
    if (length < 4) throw ProtocolError("a message is shorter than its length");
    take(type, reader.bytes(static_cast<std::size_t>(length) - sizeof(std::int32_t)));
  }
  end_rows();
  return std::exchange(events_, {});
}

void MessageEvents::put(const std::string& event) {
  end_rows();
  events_ += event;
  events_ += '\n';
}

void MessageEvents::end_rows() {
  if (pending_rows_.empty()) return;
  events_ += R"({"rows":[)" + std::exchange(pending_rows_, {}) + "]}\n";
}

void MessageEvents::take(char type, std::string_view body) {
  BodyReader reader(body);
  switch (type) {
    case 'T': return take_columns(body);
    case 'D': return take_row(body);
    case 'C': {
      OrderedJson done{{"done", reader.text()}};
      if (!types_.empty()) done["rows"] = rows_;
      return put(done.dump());
    }
    case 's': return put(OrderedJson{{"done", "SELECT"}, {"rows", rows_}, {"more", true}}.dump());
    case 'I': return put(OrderedJson{{"done", ""}}.dump());
    case 'N':
    case 'E': return take_notice(type, body);
    case 'G': copies_in_ = true; return;
    case 'H':
      types_ = {static_cast<std::int32_t>(DataType::Text)};
      return put(R"({"columns":[{"name":"copy","type":"text"}]})");
    case 'd':
      if (!pending_rows_.empty()) pending_rows_ += ',';
      ++rows_;
      pending_rows_ += "[" + json_value(types_.empty() ? 0 : types_[0], body) + "]";
      return;
    case 'Z':
      over_ = true;
      transaction_ = static_cast<char>(reader.integer<std::uint8_t>());
      return;
    default: return;  // what only drivers need to know
  }
}

void MessageEvents::take_columns(std::string_view body) {
  BodyReader reader(body);
  OrderedJson columns = OrderedJson::array();
  types_.clear();
  for (auto count = reader.integer<std::uint16_t>(); count > 0; --count) {
    const auto name = reader.text();
    reader.integer<std::int32_t>();
    reader.integer<std::int16_t>();
    const auto type = reader.integer<std::int32_t>();
    reader.bytes(sizeof(std::int16_t) + sizeof(std::int32_t) + sizeof(std::int16_t));
    types_.push_back(type);
    const auto* info = find_data_type(static_cast<DataType>(type));
    columns.push_back({{"name", replace_invalid_utf8(name)}, {"type", info == nullptr ? "text" : info->name}});
  }
  put(OrderedJson{{"columns", std::move(columns)}}.dump());
}

void MessageEvents::take_row(std::string_view body) {
  BodyReader reader(body);
  const auto count = reader.integer<std::uint16_t>();
  if (count != types_.size()) throw ProtocolError("a row has other columns than its description");
  if (!pending_rows_.empty()) pending_rows_ += ',';
  pending_rows_ += '[';
  for (std::size_t n = 0; n < types_.size(); ++n) {
    if (n > 0) pending_rows_ += ',';
    const auto value = reader.value();
    pending_rows_ += value ? json_value(types_[n], *value) : "null";
  }
  pending_rows_ += ']';
  ++rows_;
}

void MessageEvents::take_notice(char type, std::string_view body) {
  BodyReader reader(body);
  std::string severity;
  OrderedJson error;
  while (const auto field = reader.integer<std::uint8_t>()) {
    const std::string text(reader.text());
    switch (field) {
      case 'V': severity = text; break;
      case 'C': error["code"] = text; break;
      case 'M': error["message"] = text; break;
      case 'H': error["hint"] = text; break;
      case 'W': error["context"] = text; break;
      case 'P': error["position"] = position_ + static_cast<std::size_t>(number_in_text(text)) - 1; break;
      default: break;
    }
  }
  if (type == 'N') return put(OrderedJson{{severity == "INFO" ? "progress" : "notice", error["message"]}}.dump());
  failed_ = true;
  if (severity == "FATAL") over_ = true;
  put(OrderedJson{{"error", std::move(error)}}.dump());
}

}  // namespace eindb
