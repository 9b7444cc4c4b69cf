#include "engine/sql_functions/timestamp.hpp"

#include <array>
#include <ctime>

#include "common/check.hpp"

namespace eindb {

std::string timestamp_text(std::chrono::system_clock::time_point time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(time - whole).count();
  const auto seconds = std::chrono::system_clock::to_time_t(whole);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  const auto size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  const auto digits = std::to_string(micros);
  CHECK(digits.size() <= 6, "a second has a million microseconds");
  return std::string(text.data(), size) + "." + std::string(6 - digits.size(), '0') + digits + "+00";
}

}  // namespace eindb
