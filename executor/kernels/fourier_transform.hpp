#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace eindb {

/// The discrete Fourier transform of lines of one length, in either direction. What depends on the length alone is
/// computed once: the roots of unity of each pass, and for lengths with a large prime factor the spectrum of the chirp.
///
/// A length is a product of factors of at most 31, 4 where that is possible; each pass transforms so many
/// parts of the line at once, from one buffer to another, and leaves it in order (Stockham's form of the algorithm of
/// Cooley and Tukey). Other lengths take three transforms of a power of two (L. Bluestein, 1970).
///
/// Not thread-safe: transforms share buffers.
template <class T>
class FourierTransform {
 public:
  using Value = std::complex<T>;

  /// Of `length` values, which may be none.
  FourierTransform(std::size_t length, bool inverse);

  std::size_t length() const { return length_; }

  /// The transform of `values` into `result`, both of the length; inverse, it is divided by it. They may be one span,
  /// but must not overlap otherwise.
  void run(std::span<const Value> values, std::span<Value> result);

  /// The most bytes that a transform of this length holds.
  static std::size_t bytes(std::size_t length);

 private:
  struct Pass {
    std::size_t factor;
    std::size_t parts;   // of the line, that are transformed on their own
    std::size_t stride;  // values that lie together
    std::size_t roots;   // where its roots begin
  };

  void plan_passes();
  void plan_chirp();
  void run_passes(const Value* values, Value* result);
  void run_chirp(std::span<const Value> values, std::span<Value> result);
  void apply(const Pass& pass, const Value* from, Value* to) const;

  std::size_t length_;
  bool inverse_;
  std::vector<Pass> passes_;
  std::vector<Value> roots_;
  std::vector<Value> buffer_;
  std::vector<Value> chirp_;           // where the length has a large prime factor; otherwise empty
  std::vector<Value> chirp_spectrum_;  // of the length of the next two
  std::unique_ptr<FourierTransform> forward_;
  std::unique_ptr<FourierTransform> backward_;
};

extern template class FourierTransform<float>;
extern template class FourierTransform<double>;

}  // namespace eindb
