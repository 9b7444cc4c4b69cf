#pragma once

#include <complex>
#include <cstdint>
#include <string>

namespace eindb {

/// Appends the number in the form that all front ends show: integers plainly; floating-point numbers in the fewest
/// digits that read back as the same value, always with a point or an exponent ("1.0", "0.1", "1e+22", "inf", "-inf",
/// "nan"); complex numbers as "1.5-2.0j".
void append_number(std::string& out, std::int64_t value);
void append_number(std::string& out, float value);
void append_number(std::string& out, double value);
void append_number(std::string& out, const std::complex<float>& value);
void append_number(std::string& out, const std::complex<double>& value);

}  // namespace eindb
