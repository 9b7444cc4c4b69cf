#include "storage/shards/content_runs.hpp"

#include <algorithm>

#include "common/error.hpp"

namespace eindb {

void ContentRuns::add(const Run& run) {
  std::int64_t last = 0;
  const bool counts = run.first >= 0 && run.last >= run.first && number(run.content) > 0 &&
                      !__builtin_add_overflow(number(run.content), run.last - run.first, &last);
  if (!counts || (!runs_.empty() && run.first <= runs_.back().last))
    throw Error(ErrorKind::Corrupt, "a list of the contents of tiles is not in order");
  if (!runs_.empty()) {
    auto& before = runs_.back();
    if (number(run.content) - number(before.content) == run.first - before.first) {
      before.last = run.last;
      return;
    }
  }
  runs_.push_back(run);
}

std::vector<ContentRuns::Run>::const_iterator ContentRuns::find(std::int64_t tile) const {
  return std::lower_bound(runs_.begin(), runs_.end(), tile,
                          [](const Run& run, std::int64_t wanted) { return run.last < wanted; });
}

std::optional<ContentId> ContentRuns::of(std::int64_t tile) const {
  const auto found = find(tile);
  if (found == runs_.end() || found->first > tile) return std::nullopt;
  return ContentId{number(found->content) + (tile - found->first)};
}

void ContentRuns::copy(std::int64_t first, std::int64_t end, ContentRuns& to) const {
  for (auto run = find(first); run != runs_.end() && run->first < end; ++run) {
    const auto from = std::max(first, run->first);
    to.add({from, std::min(end - 1, run->last), ContentId{number(run->content) + (from - run->first)}});
  }
}

}  // namespace eindb
