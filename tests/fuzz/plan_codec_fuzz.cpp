// Arbitrary bytes as a plan from a coordinator: they are refused, or give a plan with exactly these bytes that the
// validator can check, whatever its verdict.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "cluster/plan_codec.hpp"
#include "common/error.hpp"
#include "plan/validator.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const auto placed = eindb::decode_plan(bytes);
    const auto again = eindb::encode_plan(placed.plan, placed.holders);
    if (!std::equal(again.begin(), again.end(), bytes.begin(), bytes.end())) std::abort();
    eindb::validate(placed.plan, placed.holders);
  } catch (const eindb::Error&) {  // refused by the codec or the validator
  }
  return 0;
}
