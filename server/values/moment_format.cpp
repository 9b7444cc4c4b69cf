#include "server/values/moment_format.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "engine/dialect/literals.hpp"
#include "engine/dialect/moments.hpp"
#include "server/protocol/big_endian.hpp"
#include "server/protocol/protocol_error.hpp"

namespace eindb {
namespace {

using enum DataType;

/// PostgreSQL counts from 2000-01-01.
constexpr std::int64_t kEpochDay = 10957;
constexpr std::int64_t kEpoch = kEpochDay * dialect::kDay;
constexpr std::size_t kUuidBytes = 16;

void expect_size(std::string_view value, std::size_t size) {
  if (value.size() == size) return;
  throw ProtocolError(
      "a binary parameter has " + std::to_string(value.size()) + " bytes instead of " + std::to_string(size), "22P03");
}

template <class T>
T part(std::string_view value, std::size_t at) {
  DCHECK(at + sizeof(T) <= value.size(), "a part lies in the value");
  return load_big_endian<T>(value.substr(at, sizeof(T)));
}

void check_day(std::int64_t day) {
  if (!dialect::is_valid_day(day))
    throw CodedError("22008", ErrorKind::Value, "date out of range: years are 1 to 9999");
}

std::string read_timestamp_bits(std::int64_t since_epoch, bool zoned) {
  if (since_epoch > std::numeric_limits<std::int64_t>::max() - kEpoch)
    check_day(std::numeric_limits<std::int64_t>::max());
  check_day(dialect::day_of(since_epoch + kEpoch));
  return dialect::timestamp_text(since_epoch + kEpoch, zoned);
}

std::string read_uuid_bytes(std::string_view value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    digits += kDigits[byte >> 4U];
    digits += kDigits[byte & 15U];
  }
  return dialect::uuid_from(digits);
}

/// `uuid` in lower case and with hyphens.
void append_uuid_bytes(std::string& out, std::string_view uuid) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string digits;
  for (const char c : uuid)
    if (c != '-') digits += c;
  DCHECK(digits.size() == 2 * kUuidBytes, "a uuid has two digits for each byte");
  for (std::size_t n = 0; n + 1 < digits.size(); n += 2)
    out += static_cast<char>(digit(digits[n]) * 16 + digit(digits[n + 1]));
}

[[noreturn]] void throw_unreadable(std::string_view value, DataType type) {
  throw CodedError("22007", ErrorKind::Value,
                   "the value '" + std::string(value) + "' is no " + std::string(find_data_type(type)->name));
}

}  // namespace

bool is_kept_as_text(DataType type) {
  return type == Date || type == Time || type == Timestamp || type == TimestampTz || type == DataType::Interval ||
         type == Uuid;
}

std::string read_kept_text(std::string_view text, DataType type) {
  switch (type) {
    case Date: return dialect::date_from(text);
    case Time: return dialect::time_from(text);
    case Timestamp: return dialect::timestamp_from(text, false);
    case TimestampTz: return dialect::timestamp_from(text, true);
    case DataType::Interval: return dialect::interval_from(text);
    default: return dialect::uuid_from(text);
  }
}

std::string read_kept_binary(std::string_view value, DataType type) {
  constexpr std::size_t kIntervalBytes = 16;
  switch (type) {
    case Date: {
      expect_size(value, sizeof(std::int32_t));
      const auto day = part<std::int32_t>(value, 0) + kEpochDay;
      check_day(day);
      return dialect::date_text(day);
    }
    case Time: {
      expect_size(value, sizeof(std::int64_t));
      const auto time = part<std::int64_t>(value, 0);
      if (time < 0 || time > dialect::kDay) throw CodedError("22008", ErrorKind::Value, "time out of range");
      return dialect::time_text(time);
    }
    case Timestamp:
    case TimestampTz:
      expect_size(value, sizeof(std::int64_t));
      return read_timestamp_bits(part<std::int64_t>(value, 0), type == TimestampTz);
    case DataType::Interval:
      expect_size(value, kIntervalBytes);
      return dialect::interval_text({.months = part<std::int32_t>(value, 12),
                                     .days = part<std::int32_t>(value, 8),
                                     .microseconds = part<std::int64_t>(value, 0)});
    default: expect_size(value, kUuidBytes); return read_uuid_bytes(value);
  }
}

void append_kept_text(std::string& out, std::string_view value, DataType type) { out += read_kept_text(value, type); }

void append_kept_binary(std::string& out, std::string_view value, DataType type) {
  switch (type) {
    case Date: {
      const auto days = dialect::read_date(value);
      if (!days) throw_unreadable(value, type);
      append_big_endian(out, static_cast<std::int32_t>(*days - kEpochDay));
      return;
    }
    case Time: {
      const auto time = dialect::read_time(value);
      if (!time) throw_unreadable(value, type);
      append_big_endian(out, *time);
      return;
    }
    case Timestamp:
    case TimestampTz: {
      const auto at = dialect::read_timestamp(value, type == TimestampTz);
      if (!at) throw_unreadable(value, type);
      append_big_endian(out, *at - kEpoch);
      return;
    }
    case DataType::Interval: {
      const auto interval = dialect::read_interval(value);
      if (!interval) throw_unreadable(value, type);
      append_big_endian(out, interval->microseconds);
      append_big_endian(out, static_cast<std::int32_t>(interval->days));
      append_big_endian(out, static_cast<std::int32_t>(interval->months));
      return;
    }
    default: append_uuid_bytes(out, dialect::uuid_from(value));
  }
}

}  // namespace eindb
