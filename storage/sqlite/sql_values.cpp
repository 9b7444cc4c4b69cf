#include "storage/sqlite/sql_values.hpp"

#include <sqlite3.h>

#include <new>
#include <string>
#include <variant>
#include <vector>

namespace eindb {
namespace {

struct SetResult {
  sqlite3_context* context;

  void operator()(std::monostate) const { sqlite3_result_null(context); }
  void operator()(std::int64_t value) const { sqlite3_result_int64(context, value); }
  void operator()(double value) const { sqlite3_result_double(context, value); }
  void operator()(const std::string& value) const {
    sqlite3_result_text64(context, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  void operator()(const std::vector<std::byte>& value) const {
    if (value.empty()) return sqlite3_result_zeroblob(context, 0);  // of no address SQLite would make NULL
    sqlite3_result_blob64(context, value.data(), value.size(), SQLITE_TRANSIENT);
  }
};

}  // namespace

SqliteValue value_of(sqlite3_value* value) {
  // Of a number this would make a text.
  const auto size = [&] { return static_cast<std::size_t>(sqlite3_value_bytes(value)); };
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER: return sqlite3_value_int64(value);
    case SQLITE_FLOAT: return sqlite3_value_double(value);
    case SQLITE_TEXT: {
      const auto* const text = reinterpret_cast<const char*>(sqlite3_value_text(value));
      if (text == nullptr) throw std::bad_alloc();
      return std::string(text, size());
    }
    case SQLITE_BLOB: {
      const auto* const bytes = static_cast<const std::byte*>(sqlite3_value_blob(value));
      const auto count = size();
      if (bytes == nullptr && count > 0) throw std::bad_alloc();
      return std::vector<std::byte>(bytes, bytes + count);
    }
    default: return std::monostate{};
  }
}

void set_result(sqlite3_context* context, const SqliteValue& value) { std::visit(SetResult{context}, value); }

}  // namespace eindb
