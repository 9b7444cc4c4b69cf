#pragma once

#include <complex>
#include <optional>
#include <string>

namespace eindb::runner {

/// Two numbers are equal if |a - b| <= absolute + relative * max(|a|, |b|).
struct Tolerance {
  double relative = 1e-9;
  double absolute = 0;
};

/// Reads "1", "-2.5e3", "nan", "inf", "-Infinity", "1.5-2.0j" in full; nullopt for anything else.
std::optional<std::complex<double>> parse_number(const std::string& text);

/// Whether a value matches a script's expectation. `<REGEX>:P` requires a match of P, `<!REGEX>:P` none, anywhere in
/// the value. With `numeric`, numbers are compared with the tolerance, and NaN equals NaN; otherwise the texts must be
/// equal.
bool value_fits(const std::string& actual, const std::string& expected, bool numeric, Tolerance tolerance);

/// An order for sort modes: numbers by value before texts by bytes. Results that differ within a tolerance stay in the
/// same order as long as their neighbours are further apart.
bool value_less(const std::string& a, const std::string& b);

}  // namespace eindb::runner
