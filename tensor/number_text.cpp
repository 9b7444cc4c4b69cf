#include "tensor/number_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace eindb {
namespace {

template <class Float>
void append_real(std::string& out, Float value) {
  if (std::isnan(value)) {
    out += "nan";
    return;
  }
  std::array<char, 32> digits{};  // a shortest double takes at most 24
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  out += text;
  if (std::isfinite(value) && text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

template <class Float>
void append_complex(std::string& out, const std::complex<Float>& value) {
  append_real(out, value.real());
  if (!std::signbit(value.imag()) || std::isnan(value.imag())) out += '+';
  append_real(out, value.imag());
  out += 'j';
}

}  // namespace

void append_number(std::string& out, std::int64_t value) { out += std::to_string(value); }
void append_number(std::string& out, float value) { append_real(out, value); }
void append_number(std::string& out, double value) { append_real(out, value); }
void append_number(std::string& out, const std::complex<float>& value) { append_complex(out, value); }
void append_number(std::string& out, const std::complex<double>& value) { append_complex(out, value); }

}  // namespace eindb
