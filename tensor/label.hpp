#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/check.hpp"
#include "common/strong_id.hpp"
#include "tensor/index_names.hpp"

namespace eindb {

/// An index variable of a statement. The statement's LabelTable has its name and its extent, which is the same at every
/// occurrence.
using Label = StrongId<struct LabelTag>;
using Labels = std::vector<Label>;

/// The labels of one statement. Names need not be unique: labels created by a pass or a macro may share a user's name,
/// but are not found by it.
class LabelTable {
 public:
  Label add(std::string name, std::int64_t extent);

  std::size_t size() const { return names_.size(); }
  const std::string& name(Label label) const {
    CHECK(label.index() < names_.size(), "a label is one of its table");
    return names_[label.index()];
  }
  std::int64_t extent(Label label) const {
    CHECK(label.index() < extents_.size(), "a label is one of its table");
    return extents_[label.index()];
  }
  /// The names of the label's indices, as many as its extent; null if they have none.
  IndexNames::Ptr index_names(Label label) const;
  void set_index_names(Label label, IndexNames::Ptr names);
  std::vector<std::int64_t> extents(const Labels& labels) const;
  /// "i,j,k".
  std::string join_names(const Labels& labels) const;

 private:
  std::vector<std::string> names_;
  std::vector<std::int64_t> extents_;
  std::map<Label, IndexNames::Ptr> index_names_;  // of those that have names
};

/// Distinct labels in order of first addition, with membership in constant time, for lists that may grow long. Few
/// labels are compared one by one, so that many short lists over a large table cost nothing proportional to the table.
class DistinctLabels {
 public:
  DistinctLabels() = default;
  explicit DistinctLabels(const Labels& labels) { add(labels); }

  /// False if the label was already present.
  bool add(Label label);
  void add(const Labels& labels);
  bool contains(Label label) const;
  const Labels& labels() const { return labels_; }

 private:
  void mark(Label label);

  Labels labels_;
  std::vector<bool> seen_;  // by number; empty while there are few
};

bool contains(const Labels& labels, Label label);
/// Appends the labels of `more` that are not in `labels` yet, in order.
void append_distinct(Labels& labels, const Labels& more);
/// Labels of `a` that are not in `b`, in order.
Labels difference(const Labels& a, const Labels& b);

}  // namespace eindb
