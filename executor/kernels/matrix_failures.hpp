#pragma once

namespace eindb {

/// Reasons for which a function has no result for a matrix. In a message they follow the words "a matrix ".
inline constexpr const char* kSingular = "is singular";
inline constexpr const char* kNotFinite = "has a value that is not finite";
inline constexpr const char* kNotPositive = "is not positive definite";

/// Smaller singular values, in parts of the greatest, are none to a pseudo-inverse: the one of numpy.linalg.pinv.
inline constexpr double kLeastSingularValue = 1e-15;

}  // namespace eindb
