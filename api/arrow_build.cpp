#include "api/arrow_build.hpp"

#include <cstring>
#include <deque>
#include <utility>

#include "common/check.hpp"

namespace eindb {
namespace {

/// The texts and the children that a schema of ours points to.
struct HeldSchema {
  std::string format;
  std::string name;
  std::string metadata;
  std::deque<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
};

struct HeldArray {
  std::vector<const void*> buffers;
  std::vector<std::shared_ptr<const void>> owners;
  std::deque<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
};

/// A child that a consumer has moved away is its own to release.
template <class T, class Held>
void release_held(T* of) {
  auto* held = static_cast<Held*>(of->private_data);
  for (auto& child : held->children)
    if (child.release != nullptr) child.release(&child);
  of->release = nullptr;
  delete held;
}

/// Until the callback is set, what is made belongs to this.
template <class T, class Held>
class Making {
 public:
  explicit Making(T& out) : out_(out), held_(std::make_unique<Held>()) { out_ = {}; }
  ~Making() {
    if (held_ == nullptr) return;
    for (auto& child : held_->children)
      if (child.release != nullptr) child.release(&child);
  }
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;
  Held& held() { return *held_; }
  void finish() noexcept {
    out_.n_children = static_cast<std::int64_t>(held_->pointers.size());
    out_.children = held_->pointers.empty() ? nullptr : held_->pointers.data();
    out_.private_data = held_.release();
    out_.release = release_held<T, Held>;
  }

 private:
  T& out_;
  std::unique_ptr<Held> held_;
};

/// A number of pairs, then for each the length and the bytes of key and value, in the order of this machine's bytes.
std::string packed_metadata(const std::vector<std::pair<std::string, std::string>>& pairs) {
  if (pairs.empty()) return {};
  std::string out;
  const auto put_number = [&](std::size_t value) {
    const auto number = static_cast<std::int32_t>(value);
    out.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  put_number(pairs.size());
  for (const auto& [key, value] : pairs) {
    put_number(key.size());
    out += key;
    put_number(value.size());
    out += value;
  }
  return out;
}

}  // namespace

void hand_over(const ArrowField& field, ArrowSchema& out) {
  Making<ArrowSchema, HeldSchema> making(out);
  auto& held = making.held();
  held.format = field.format;
  held.name = field.name;
  held.metadata = packed_metadata(field.metadata);
  for (const auto& child : field.children) {
    hand_over(child, held.children.emplace_back());
    held.pointers.push_back(&held.children.back());
  }
  out.format = held.format.c_str();
  out.name = held.name.c_str();
  out.metadata = held.metadata.empty() ? nullptr : held.metadata.data();
  out.flags = field.is_nullable ? ARROW_FLAG_NULLABLE : 0;
  making.finish();
}

void hand_over(ArrowValues values, ArrowArray& out) {
  Making<ArrowArray, HeldArray> making(out);
  auto& held = making.held();
  for (auto& buffer : values.buffers) {
    held.buffers.push_back(buffer.data);
    held.owners.push_back(std::move(buffer.owner));
  }
  for (auto& child : values.children) {
    hand_over(std::move(child), held.children.emplace_back());
    held.pointers.push_back(&held.children.back());
  }
  out.length = values.length;
  out.null_count = values.null_count;
  out.n_buffers = static_cast<std::int64_t>(held.buffers.size());
  out.buffers = held.buffers.empty() ? nullptr : held.buffers.data();
  making.finish();
}

}  // namespace eindb
