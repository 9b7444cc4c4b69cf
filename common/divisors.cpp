#include "common/divisors.hpp"

#include <algorithm>

#include "common/check.hpp"

namespace eindb {

std::vector<std::int64_t> prime_factors(std::int64_t number) {
  CHECK(number > 0, "numbers that have factors are positive");
  std::vector<std::int64_t> factors;
  for (std::int64_t prime = 2; prime <= number / prime; ++prime)
    for (; number % prime == 0; number /= prime) factors.push_back(prime);
  if (number > 1) factors.push_back(number);
  return factors;
}

std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> out{1};
  std::int64_t last = 1;
  std::size_t begin = 0;  // of the products with the factors so far, those that have the last one as often as it came
  for (const auto prime : prime_factors(number)) {
    const auto end = out.size();
    if (prime != last) begin = 0;
    for (auto n = begin; n < end; ++n) out.push_back(out[n] * prime);
    begin = end;
    last = prime;
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::int64_t largest_divisor(std::int64_t number, std::int64_t most) {
  if (most >= number) return number;
  const auto all = divisors(number);
  const auto beyond = std::upper_bound(all.begin(), all.end(), most);
  return beyond == all.begin() ? 1 : *(beyond - 1);
}

}  // namespace eindb
