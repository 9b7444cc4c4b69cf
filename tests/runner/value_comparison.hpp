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

/// Whether a value fits what a script expects. `<REGEX>:P` expects a match of P, `<!REGEX>:P` none, anywhere in the
/// value. With `numeric`, numbers are compared with the tolerance, NaN being equal to NaN; else the texts must be the
/// same.
bool value_fits(const std::string& actual, const std::string& expected, bool numeric, Tolerance tolerance);

/// An order for sort modes: numbers by size before texts by bytes. With it, results that differ within a tolerance
/// stay in the same order as long as their neighbours are further apart.
bool value_less(const std::string& a, const std::string& b);

}  // namespace eindb::runner
