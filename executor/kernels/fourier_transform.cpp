#include "executor/kernels/fourier_transform.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "common/check.hpp"
#include "common/poll_steps.hpp"

namespace eindb {
namespace {

constexpr std::size_t kLargestPass = 31;

// The roots of unity exp(sign 2 pi i k / n) for all k, each a product of two that are computed.
class UnityRoots {
 public:
  UnityRoots(std::size_t n, double sign) : n_(n), angle_(sign * 2 * std::numbers::pi / static_cast<double>(n)) {
    while ((std::size_t{1} << 2 * bits_) < n) ++bits_;
    const auto step = std::size_t{1} << bits_;
    for (std::size_t k = 0; k < std::min(step, n); ++k) fine_.push_back(computed(k));
    for (std::size_t k = 0; k < n; k += step) coarse_.push_back(computed(k));
  }

  // k < n.
  std::complex<double> at(std::size_t k) const {
    const auto& a = coarse_[k >> bits_];
    const auto& b = fine_[k & ((std::size_t{1} << bits_) - 1)];
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

 private:
  // From an angle of at most an eighth of a circle, so that roots that are conjugates, or quarters apart, are so
  // exactly.
  std::complex<double> computed(std::size_t k) const {
    const auto quarter = 4 * static_cast<std::uint64_t>(k) / n_;
    const auto rest = 4 * static_cast<std::uint64_t>(k) - quarter * n_;  // of a quarter, in parts of n
    const auto in_quarter = [&](std::uint64_t part) {
      const double angle = angle_ / 4 * static_cast<double>(part);
      return std::complex<double>(std::cos(angle), std::sin(angle));
    };
    auto root = in_quarter(rest);
    if (2 * rest > n_) {
      const auto other = in_quarter(n_ - rest);
      root = angle_ < 0 ? std::complex(-other.imag(), -other.real()) : std::complex(other.imag(), other.real());
    }
    const std::complex<double> turn = angle_ < 0 ? std::complex(0.0, -1.0) : std::complex(0.0, 1.0);
    for (std::uint64_t q = 0; q < quarter; ++q) root = {-turn.imag() * root.imag(), turn.imag() * root.real()};
    return root;
  }

  std::size_t n_;
  double angle_;
  unsigned bits_ = 0;  // of the numbers of the fine ones
  std::vector<std::complex<double>> fine_;
  std::vector<std::complex<double>> coarse_;
};

template <class T>
std::complex<T> narrowed(std::complex<double> value) {
  return {static_cast<T>(value.real()), static_cast<T>(value.imag())};
}

// Without the detection of NaN that the operator has.
template <class T>
std::complex<T> complex_product(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <class T>
std::complex<T> quarter_turned(std::complex<T> a, T sign) {  // times sign * i
  return {-sign * a.imag(), sign * a.real()};
}

std::vector<std::size_t> pass_factors(std::size_t n) {
  std::vector<std::size_t> factors;
  for (; n % 4 == 0; n /= 4) factors.push_back(4);
  for (std::size_t factor = 2; factor <= kLargestPass && n > 1; ++factor)
    for (; n % factor == 0; n /= factor) factors.push_back(factor);
  if (n > 1) factors.clear();
  return factors;
}

// to[q + s (f p + k)] = root_k^p * sum over l of root^(k l) from[q + s (p + m l)], for the m parts p, and the s values
// q that lie together.
template <class T, std::size_t kFactor, class Body>
void for_each_part(const std::complex<T>* from, std::complex<T>* to, std::size_t m, std::size_t s,
                   const std::complex<T>* roots, const Body& body) {
  using Value = std::complex<T>;
  for (std::size_t p = 0; p < m; ++p) {
    std::array<Value, kFactor> root;
    for (std::size_t k = 1; k < kFactor; ++k) root[k] = roots[p * (kFactor - 1) + k - 1];
    const auto* in = from + s * p;
    auto* out = to + s * kFactor * p;
    for (std::size_t q = 0; q < s; ++q) {
      std::array<Value, kFactor> x;
      for (std::size_t l = 0; l < kFactor; ++l) x[l] = in[q + s * m * l];
      body(x);
      out[q] = x[0];
      for (std::size_t k = 1; k < kFactor; ++k) out[q + s * k] = complex_product(x[k], root[k]);
    }
  }
}

template <class T>
struct OfTwo {
  void operator()(std::array<std::complex<T>, 2>& x) const { x = {x[0] + x[1], x[0] - x[1]}; }
};

template <class T>
struct OfThree {
  T sign;
  void operator()(std::array<std::complex<T>, 3>& x) const {
    const auto sum = x[1] + x[2];
    const auto middle = x[0] - sum * T{0.5};
    const auto side = quarter_turned(x[1] - x[2], sign * static_cast<T>(std::numbers::sqrt3 / 2));
    x = {x[0] + sum, middle + side, middle - side};
  }
};

template <class T>
struct OfFour {
  T sign;
  void operator()(std::array<std::complex<T>, 4>& x) const {
    const auto a = x[0] + x[2];
    const auto b = x[0] - x[2];
    const auto c = x[1] + x[3];
    const auto d = quarter_turned(x[1] - x[3], sign);
    x = {a + c, b + d, a - c, b - d};
  }
};

template <class T>
struct OfFive {
  T sign;
  void operator()(std::array<std::complex<T>, 5>& x) const {
    constexpr T kCos1 = static_cast<T>(0.30901699437494742410);
    constexpr T kSin1 = static_cast<T>(0.95105651629515357212);
    constexpr T kCos2 = static_cast<T>(-0.80901699437494742410);
    constexpr T kSin2 = static_cast<T>(0.58778525229247312917);
    const auto a = x[1] + x[4];
    const auto b = x[1] - x[4];
    const auto c = x[2] + x[3];
    const auto d = x[2] - x[3];
    const auto first = x[0] + a * kCos1 + c * kCos2;
    const auto second = x[0] + a * kCos2 + c * kCos1;
    const auto side = quarter_turned(b * kSin1 + d * kSin2, sign);
    const auto other = quarter_turned(b * kSin2 - d * kSin1, sign);
    x = {x[0] + a + c, first + side, second + other, second - other, first - side};
  }
};

}  // namespace

template <class T>
FourierTransform<T>::FourierTransform(std::size_t length, bool inverse) : length_(length), inverse_(inverse) {
  if (length_ <= 1) return;
  plan_passes();
  if (passes_.empty()) plan_chirp();
}

template <class T>
void FourierTransform<T>::plan_passes() {
  const auto factors = pass_factors(length_);
  if (factors.empty()) return;
  const UnityRoots unity(length_, inverse_ ? 1 : -1);
  roots_.reserve(length_ + kLargestPass * kLargestPass);
  std::size_t stride = 1;
  for (const auto factor : factors) {
    const auto parts = length_ / stride / factor;
    passes_.push_back({factor, parts, stride, roots_.size()});
    for (std::size_t p = 0; p < parts; ++p) {
      poll_cancellation_after(factor);
      for (std::size_t k = 1; k < factor; ++k) roots_.push_back(narrowed<T>(unity.at(stride * p * k)));
    }
    if (factor > 5)  // and those of the factor itself
      for (std::size_t k = 0; k < factor; ++k) roots_.push_back(narrowed<T>(unity.at(length_ / factor * k)));
    stride *= factor;
  }
  buffer_.resize(length_);
}

// exp(sign i pi k^2 / n), where k^2 is taken modulo 2 n, as the exponential repeats; and the spectrum of its conjugate.
template <class T>
void FourierTransform<T>::plan_chirp() {
  std::size_t padded = 1;
  while (padded < 2 * length_) padded *= 2;
  const UnityRoots unity(2 * length_, inverse_ ? 1 : -1);
  forward_ = std::make_unique<FourierTransform>(padded, false);
  backward_ = std::make_unique<FourierTransform>(padded, true);
  chirp_.reserve(length_);
  chirp_spectrum_.resize(padded);
  for (std::size_t k = 0; k < length_; ++k) {
    const auto root = unity.at(static_cast<std::size_t>(static_cast<std::uint64_t>(k) * k % (2 * length_)));
    chirp_.push_back(narrowed<T>(root));
    chirp_spectrum_[k] = std::conj(chirp_.back());
    if (k > 0) chirp_spectrum_[padded - k] = chirp_spectrum_[k];
  }
  forward_->run(chirp_spectrum_, chirp_spectrum_);
  buffer_.resize(padded);
}

template <class T>
void FourierTransform<T>::apply(const Pass& pass, const Value* from, Value* to) const {
  const auto [factor, m, s, begin] = pass;
  const auto* roots = roots_.data() + begin;
  const T sign = inverse_ ? 1 : -1;
  switch (factor) {
    case 2: return for_each_part<T, 2>(from, to, m, s, roots, OfTwo<T>{});
    case 3: return for_each_part<T, 3>(from, to, m, s, roots, OfThree<T>{sign});
    case 4: return for_each_part<T, 4>(from, to, m, s, roots, OfFour<T>{sign});
    case 5: return for_each_part<T, 5>(from, to, m, s, roots, OfFive<T>{sign});
    default: break;
  }
  const auto* unity = roots + m * (factor - 1);
  for (std::size_t p = 0; p < m; ++p)
    for (std::size_t k = 0; k < factor; ++k)
      for (std::size_t q = 0; q < s; ++q) {
        Value sum = from[q + s * p];
        for (std::size_t l = 1; l < factor; ++l)
          sum += complex_product(from[q + s * (p + m * l)], unity[k * l % factor]);
        to[q + s * (factor * p + k)] = k == 0 ? sum : complex_product(sum, roots[p * (factor - 1) + k - 1]);
      }
}

// From buffer to buffer, so that the last pass ends in the result.
template <class T>
void FourierTransform<T>::run_passes(const Value* values, Value* result) {
  const bool is_odd = passes_.size() % 2 == 1;
  auto* to = is_odd ? result : buffer_.data();
  if (is_odd && values == result) {  // the first pass would write what it reads
    std::copy(values, values + length_, buffer_.begin());
    values = buffer_.data();
  }
  const auto* from = values;
  for (const auto& pass : passes_) {
    poll_cancellation_after(length_);
    apply(pass, from, to);
    from = to;
    to = to == result ? buffer_.data() : result;
  }
}

template <class T>
void FourierTransform<T>::run_chirp(std::span<const Value> values, std::span<Value> result) {
  for (std::size_t k = 0; k < length_; ++k) buffer_[k] = complex_product(values[k], chirp_[k]);
  std::fill(buffer_.begin() + static_cast<std::ptrdiff_t>(length_), buffer_.end(), Value{});
  forward_->run(buffer_, buffer_);
  for (std::size_t k = 0; k < buffer_.size(); ++k) buffer_[k] = complex_product(buffer_[k], chirp_spectrum_[k]);
  backward_->run(buffer_, buffer_);
  for (std::size_t k = 0; k < length_; ++k) result[k] = complex_product(buffer_[k], chirp_[k]);
}

template <class T>
void FourierTransform<T>::run(std::span<const Value> values, std::span<Value> result) {
  CHECK(values.size() == length_ && result.size() == length_, "a transform is of values of its length");
  if (!passes_.empty()) run_passes(values.data(), result.data());
  else if (length_ > 1) run_chirp(values, result);
  else std::copy(values.begin(), values.end(), result.begin());
  if (!inverse_) return;
  const auto share = T{1} / static_cast<T>(length_);
  const bool is_exact = (length_ & (length_ - 1)) == 0;  // a power of two, whose inverse is a number, too
  for (auto& value : result) value = is_exact ? value * share : value / static_cast<T>(length_);
}

template <class T>
std::size_t FourierTransform<T>::bytes(std::size_t length) {
  const auto of_passes = [](std::size_t n) { return (2 * n + kLargestPass * kLargestPass) * sizeof(Value); };
  if (length <= 1) return 0;
  if (!pass_factors(length).empty()) return of_passes(length);
  std::size_t padded = 1;
  while (padded < 2 * length) padded *= 2;
  return 2 * of_passes(padded) + (length + 2 * padded) * sizeof(Value);
}

template class FourierTransform<float>;
template class FourierTransform<double>;

}  // namespace eindb
