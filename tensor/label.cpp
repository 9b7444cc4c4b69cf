#include "tensor/label.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/poll_steps.hpp"

namespace eindb {
namespace {

// Up to this many labels are compared one by one; longer lists use a bitmap.
constexpr std::size_t kFew = 16;

}  // namespace

Label LabelTable::add(std::string name, std::int64_t extent) {
  names_.push_back(std::move(name));
  extents_.push_back(extent);
  return Label(names_.size() - 1);
}

IndexNames::Ptr LabelTable::index_names(Label label) const {
  const auto found = index_names_.find(label);
  return found == index_names_.end() ? nullptr : found->second;
}

void LabelTable::set_index_names(Label label, IndexNames::Ptr names) {
  CHECK(names == nullptr || names->size() == extent(label), "each index of a label with names has one");
  if (names == nullptr) index_names_.erase(label);
  else index_names_[label] = std::move(names);
}

std::vector<std::int64_t> LabelTable::extents(const Labels& labels) const {
  std::vector<std::int64_t> out;
  out.reserve(labels.size());
  for (const auto label : labels) out.push_back(extent(label));
  return out;
}

std::string LabelTable::join_names(const Labels& labels) const {
  std::string out;
  for (const auto label : labels) out += (out.empty() ? "" : ",") + name(label);
  return out;
}

bool DistinctLabels::contains(Label label) const {
  if (labels_.size() <= kFew) return eindb::contains(labels_, label);
  return label.index() < seen_.size() && seen_[label.index()];
}

void DistinctLabels::mark(Label label) {
  if (label.index() >= seen_.size()) seen_.resize(label.index() + 1);
  seen_[label.index()] = true;
}

bool DistinctLabels::add(Label label) {
  if (contains(label)) return false;
  labels_.push_back(label);
  if (labels_.size() > kFew + 1) mark(label);
  else if (labels_.size() == kFew + 1)
    for (const auto known : labels_) mark(known);
  return true;
}

void DistinctLabels::add(const Labels& labels) {
  for (const auto label : labels) add(label);
}

bool contains(const Labels& labels, Label label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

void append_distinct(Labels& labels, const Labels& more) {
  if (more.size() > kFew && labels.size() + more.size() > 2 * kFew) {
    DistinctLabels all(labels);
    all.add(more);
    labels = all.labels();
    return;
  }
  poll_cancellation_after(labels.size());
  for (const auto label : more)
    if (!contains(labels, label)) labels.push_back(label);
}

Labels difference(const Labels& a, const Labels& b) {
  Labels out;
  poll_cancellation_after(a.size() + b.size());
  if (b.size() <= kFew) {
    std::copy_if(a.begin(), a.end(), std::back_inserter(out), [&](Label label) { return !contains(b, label); });
    return out;
  }
  const DistinctLabels taken(b);
  std::copy_if(a.begin(), a.end(), std::back_inserter(out), [&](Label label) { return !taken.contains(label); });
  return out;
}

}  // namespace eindb
