#include "executor/kernels/vector_functions.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/poll_steps.hpp"
#include "executor/kernels/scratch.hpp"

namespace eindb {
namespace {

template <class T>
bool is_no_number(T value) {
  if constexpr (std::is_floating_point_v<T>) return value != value;
  else return false;
}

template <class T>
struct Indexed {
  T value;
  std::int64_t index;
};

// Whether one value stands before another: NaN last, equal ones by their indices.
template <class T, bool kDescending>
struct ComesFirst {
  bool operator()(const Indexed<T>& a, const Indexed<T>& b) const {
    if (is_no_number(a.value) || is_no_number(b.value))
      return is_no_number(a.value) == is_no_number(b.value) ? a.index < b.index : is_no_number(b.value);
    if (a.value != b.value) return kDescending ? a.value > b.value : a.value < b.value;
    return a.index < b.index;
  }
};

// A whole number in whose order values stand: NaN are the greatest, and both zeros are one.
template <class T, bool kDescending>
auto key_of(T value) {
  using Key = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr Key kSign = Key{1} << (8 * sizeof(T) - 1);
  if (is_no_number(value)) return static_cast<Key>(~Key{0});
  Key key = std::bit_cast<Key>(value == T{0} ? T{0} : value);
  // Without a branch on the sign: the bits of negative numbers are turned over.
  if constexpr (std::is_floating_point_v<T>) key ^= (Key{0} - (key >> (8 * sizeof(T) - 1))) | kSign;
  else key ^= kSign;
  return kDescending ? static_cast<Key>(~key) : key;
}

// The first values in order, by the digits of their keys from the last one on: in passes over all of them, in the order
// of their indices where they are equal. The first pass reads values, the last one writes indices, and a digit that is
// the same for all takes none.
template <class T, bool kDescending>
void order_by_digits(std::span<const T> values, std::span<std::int64_t> out) {
  using Key = decltype(key_of<T, kDescending>(T{}));
  struct Entry {
    Key key;
    std::uint32_t index;
  };
  constexpr unsigned kDigitBits = 11;
  constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  constexpr unsigned kDigitPasses = (8 * sizeof(Key) + kDigitBits - 1) / kDigitBits;
  const auto size = values.size();
  std::array<std::array<std::uint32_t, kDigits>, kDigitPasses> counts{};
  for (const auto value : values) {
    const auto value_key = key_of<T, kDescending>(value);
    for (unsigned pass = 0; pass < kDigitPasses; ++pass)
      ++counts[pass][(value_key >> (pass * kDigitBits)) & (kDigits - 1)];
  }
  std::array<unsigned, kDigitPasses> passes{};
  std::size_t pass_count = 0;
  for (unsigned pass = 0; pass < kDigitPasses; ++pass)
    if (std::find(counts[pass].begin(), counts[pass].end(), size) == counts[pass].end()) passes[pass_count++] = pass;
  if (pass_count == 0) return std::iota(out.begin(), out.end(), std::int64_t{0});
  const Scratch memory(2 * size * sizeof(Entry));
  auto* from = reinterpret_cast<Entry*>(memory.data());
  auto* to = from + size;
  for (std::size_t p = 0; p < pass_count; ++p, std::swap(from, to)) {
    poll_cancellation_after(size);
    auto& next = counts[passes[p]];
    std::uint32_t begin = 0;
    for (auto& of_digit : next) begin += std::exchange(of_digit, begin);
    const auto shift = passes[p] * kDigitBits;
    const auto place_of = [&](Key key) { return next[(key >> shift) & (kDigits - 1)]++; };
    const auto pass_over = [&](auto&& write) {
      if (p > 0) return static_cast<void>(std::for_each(from, from + size, write));
      for (std::size_t n = 0; n < size; ++n)
        write(Entry{key_of<T, kDescending>(values[n]), static_cast<std::uint32_t>(n)});
    };
    if (p + 1 < pass_count) {
      pass_over([&](const Entry& entry) { to[place_of(entry.key)] = entry; });
    } else {
      pass_over([&](const Entry& entry) {
        const auto place = place_of(entry.key);
        if (place < out.size()) out[place] = entry.index;
      });
    }
  }
}

constexpr std::size_t kLookedAt = 32;  // values that are compared together

// Whether none of the next values is on the better side of a number; without branches.
template <class T, bool kDescending>
bool none_precedes(const T* values, T number) {
  unsigned found = 0;
  for (std::size_t n = 0; n < kLookedAt; ++n)
    found |= (kDescending ? values[n] > number : values[n] < number) ? ~0U : 0U;
  return found == 0;
}

template <class T, bool kDescending>
void order(std::span<const T> values, std::span<std::int64_t> out) {
  constexpr std::size_t kFew = 8;  // a part of the values of at most an eighth is chosen in one pass
  const ComesFirst<T, kDescending> before;
  constexpr std::size_t kFewest = 1024;  // values whose digits are worth their passes
  const auto wanted = out.size();
  if (wanted * kFew >= values.size() && values.size() >= kFewest &&
      values.size() <= std::numeric_limits<std::uint32_t>::max())
    return order_by_digits<T, kDescending>(values, out);
  std::vector<Indexed<T>> chosen;
  if (wanted * kFew < values.size() && wanted > 0) {
    // Values that do not come before the worst of those that are wanted so far are passed over.
    const auto room = 2 * wanted + 64;
    chosen.reserve(room);
    bool is_full = false;
    Indexed<T> worst{};
    const auto shrink = [&] {
      const auto last = chosen.begin() + static_cast<std::ptrdiff_t>(wanted) - 1;
      std::nth_element(chosen.begin(), last, chosen.end(), before);
      chosen.resize(wanted);
      worst = chosen.back();
      is_full = true;
    };
    for (std::size_t n = 0; n < values.size(); ++n) {
      if (is_full && !is_no_number(worst.value)) {
        while (n + kLookedAt <= values.size() && none_precedes<T, kDescending>(&values[n], worst.value)) n += kLookedAt;
        if (n == values.size()) break;
      }
      const Indexed<T> next{values[n], static_cast<std::int64_t>(n)};
      if (is_full && !before(next, worst)) continue;
      chosen.push_back(next);
      if (chosen.size() == room) shrink();
    }
    if (chosen.size() > wanted) shrink();
  } else {
    chosen.reserve(values.size());
    for (std::size_t n = 0; n < values.size(); ++n) chosen.push_back({values[n], static_cast<std::int64_t>(n)});
    if (wanted < chosen.size()) {
      std::nth_element(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(wanted), chosen.end(), before);
      chosen.resize(wanted);
    }
  }
  poll_cancellation_after(values.size());
  std::sort(chosen.begin(), chosen.end(), before);
  for (std::size_t n = 0; n < wanted; ++n) out[n] = chosen[n].index;
}

// Sorts with NaN last.
template <class T>
void sort_values(std::span<T> values) {
  const auto end = std::partition(values.begin(), values.end(), [](T value) { return !is_no_number(value); });
  std::sort(values.begin(), end);
  poll_cancellation_after(values.size());
}

}  // namespace

template <class T>
void order_indices(std::span<const T> values, bool descending, std::span<std::int64_t> out) {
  CHECK(out.size() <= values.size(), "no more values are put in order than there are");
  if (descending) order<T, true>(values, out);
  else order<T, false>(values, out);
}

template <class T>
T quantile_of(std::span<T> values, double share) {
  CHECK(!values.empty() && share >= 0 && share <= 1, "a quantile is of some values, and a share of them");
  for (const auto value : values)
    if (is_no_number(value)) return value;
  const auto place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), at, values.end());
  poll_cancellation_after(values.size());
  const auto fraction = static_cast<T>(place - static_cast<double>(below));
  const auto low = *at;
  if (fraction == 0 || below + 1 == values.size()) return low;
  const auto high = *std::min_element(at + 1, values.end());
  return low == high ? low : low + (high - low) * fraction;
}

template <class T>
T mode_of(std::span<T> values) {
  CHECK(!values.empty(), "a mode is of some values");
  sort_values(values);
  T best = values.front();
  std::size_t most = 0;
  for (std::size_t begin = 0; begin < values.size();) {
    auto end = begin + 1;
    while (end < values.size() && are_equal_or_nan(values[begin], values[end])) ++end;
    if (end - begin > most) {
      most = end - begin;
      best = values[begin];
    }
    begin = end;
  }
  return best;
}

template <class T>
std::int64_t distinct_of(std::span<T> values) {
  sort_values(values);
  std::int64_t count = 0;
  for (std::size_t n = 0; n < values.size(); ++n)
    if (n == 0 || !are_equal_or_nan(values[n - 1], values[n])) ++count;
  return count;
}

#define EINDB_ORDERED(T)                                                          \
  template void order_indices(std::span<const T>, bool, std::span<std::int64_t>); \
  template T mode_of(std::span<T>);                                               \
  template std::int64_t distinct_of(std::span<T>);
EINDB_ORDERED(float)
EINDB_ORDERED(double)
EINDB_ORDERED(std::int64_t)
#undef EINDB_ORDERED
template float quantile_of(std::span<float>, double);
template double quantile_of(std::span<double>, double);

}  // namespace eindb
