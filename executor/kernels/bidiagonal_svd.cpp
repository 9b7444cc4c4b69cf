#include "executor/kernels/bidiagonal_svd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "common/check.hpp"
#include "common/poll_steps.hpp"
#include "executor/kernels/lent_threads.hpp"
#include "executor/kernels/secular_equation.hpp"

namespace eindb {
namespace {

// Singular values that differ by less, and elements below it, count as equal and as zero: as LAPACK's dlasd2, in parts
// of the largest number of a merge.
constexpr double kDeflated = 32 * std::numeric_limits<double>::epsilon();
// Below the first so many levels of the tree a part is solved by one thread.
constexpr int kSharedLevels = 2;
constexpr std::int64_t kRootsOfPart = 32;
constexpr std::int64_t kOperationsOfRoot = 32;  // for each pole

std::int64_t parts_of(std::int64_t roots) { return (roots + kRootsOfPart - 1) / kRootsOfPart; }

}  // namespace

// Rows and columns from `begin` on: `size` rows, and one column more if `extra`.
struct BidiagonalSvd::Part {
  std::int64_t begin;
  std::int64_t size;
  std::int64_t extra;

  std::int64_t columns() const { return size + extra; }
  std::int64_t middle() const { return (size - 1) / 2; }
  Part top() const { return {begin, middle(), 1}; }
  Part bottom() const { return {begin + middle() + 1, size - middle() - 1, extra}; }
};

// A part is a matrix of two parts and a row between them,
//
//     B1   0                                       z0 z ...
//     a e  b e     = (row, U1, U2)      M (V1, V2)^T,  M =     d
//     0    B2                                             d
//
// e being the last and the first row. The null vectors of both V become one in which the row between them has an
// element, z0, and one where it has none. The singular values of M are the roots of 1 + sum z^2 / (d^2 - x^2).
class BidiagonalSvd::Merge {
 public:
  Merge(BidiagonalSvd& whole, const Part& part);
  void run();

 private:
  enum class Rows : std::uint8_t { Top, Both, Bottom };
  // A row and column of M behind the first one.
  struct Entry {
    double d;
    double z;
    std::int64_t column;  // of the part
    Rows rows;
  };

  MatrixRef matrix() const { return row_major(whole_.products_.data() + part_.begin * whole_.size_, count_, count_); }
  double* temporary() const {
    return whole_.temporary_.data() + part_.begin * (whole_.vectors_ ? whole_.size_ + 1 : 2);
  }

  void read_entries();
  void scale_by(double largest);
  void join_null_vectors();
  void deflate();
  void rotate(const Entry& from, const Entry& into, double c, double s);
  void order_columns();
  void find_roots();
  void improve_z();
  void make_right_vectors();
  void make_left_vectors();
  void replace(const MatrixRef& top, const MatrixRef& bottom);
  const Entry& entry_at(std::int64_t place) const { return entries_[place_of_[static_cast<std::size_t>(place)]]; }

  BidiagonalSvd& whole_;
  Part part_;
  double alpha_;
  double beta_;
  MatrixRef left_;
  MatrixRef right_top_;     // rows of V that are kept of the first part's
  MatrixRef right_bottom_;  // and of the second's, of all columns
  double first_z_ = 0;
  double null_z_ = 0;  // of the second part's null vector
  double unit_ = 1;    // of M's elements
  double least_ = 0;
  std::int64_t count_ = 0;      // of the rows of M that are not deflated
  std::vector<Entry> entries_;  // of M, ascending, the first one with d = 0
  std::vector<Entry> deflated_;
  std::vector<std::size_t> place_of_;  // the entries as columns of the products: those of top, both and bottom rows
  std::int64_t top_count_ = 0;         // of the columns with top rows
  std::int64_t first_place_ = 0;       // of the first entry, which has both
  std::vector<double> roots_;
  std::vector<double> scales_;
};

BidiagonalSvd::BidiagonalSvd(const LevelTable& level, std::vector<double> diagonal, std::vector<double> beside,
                             bool vectors)
    : level_(level),
      size_(static_cast<std::int64_t>(diagonal.size())),
      vectors_(vectors),
      diagonal_(std::move(diagonal)),
      beside_(std::move(beside)),
      values_(diagonal_.size()) {
  CHECK(size_ == 0 || std::cmp_equal(beside_.size(), size_ - 1), "a bidiagonal matrix has n + n - 1 elements");
  if (size_ == 0) return;
  const auto cells = static_cast<std::size_t>(size_ * size_);
  products_.resize(cells);
  temporary_.resize(static_cast<std::size_t>((vectors_ ? size_ : 2) * (size_ + 1)));
  if (vectors_) left_.resize(cells);
  right_.resize(vectors_ ? cells : static_cast<std::size_t>(2 * size_));
  const Part all{0, size_, 0};
  std::vector<Part> parts;
  list_parts(all, kSharedLevels, parts);
  for_each_part(static_cast<std::int64_t>(parts.size()), kOperationsOfRoot * size_ * size_,
                [&](std::int64_t n) { solve(parts[static_cast<std::size_t>(n)]); });
  merge_parts(all, kSharedLevels);
  order_.resize(diagonal_.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return value(a) > value(b); });
}

void BidiagonalSvd::list_parts(const Part& part, int levels, std::vector<Part>& to) {
  if (levels == 0 || part.size < 2) return to.push_back(part);
  list_parts(part.top(), levels - 1, to);
  list_parts(part.bottom(), levels - 1, to);
}

void BidiagonalSvd::merge_parts(const Part& part, int levels) {
  if (levels == 0 || part.size < 2) return;
  merge_parts(part.top(), levels - 1);
  merge_parts(part.bottom(), levels - 1);
  Merge(*this, part).run();
}

void BidiagonalSvd::solve(const Part& part) {
  if (part.size < 2) return solve_single(part);
  solve(part.top());
  solve(part.bottom());
  Merge(*this, part).run();
  poll_cancellation_after(static_cast<std::size_t>(part.size * part.size));
}

// (d), (d e) or a column without a row.
void BidiagonalSvd::solve_single(const Part& part) {
  const auto right = row_major(right_.data(), vectors_ ? size_ : 2, size_);
  const auto set = [&](std::int64_t row, std::int64_t column, double value) {
    const auto last = part.columns() - 1;
    if (vectors_) right(part.begin + row, part.begin + column) = value;
    if (!vectors_ && row == 0) right(0, part.begin + column) = value;
    if (!vectors_ && row == last) right(1, part.begin + column) = value;
  };
  if (part.size == 0) return set(0, 0, 1);
  const auto at = static_cast<std::size_t>(part.begin);
  const auto d = diagonal_[at];
  const auto e = part.extra == 1 ? beside_[at] : 0;
  const auto size = std::hypot(d, e);
  values_[at] = size;
  if (vectors_) left_[at * static_cast<std::size_t>(size_ + 1)] = 1;
  const auto c = size == 0 ? 1 : d / size;
  const auto s = size == 0 ? 0 : e / size;
  set(0, 0, c);
  if (part.extra == 0) return;
  set(1, 0, s);
  set(0, 1, -s);
  set(1, 1, c);
}

std::vector<double> BidiagonalSvd::values() const {
  std::vector<double> sorted;
  for (const auto column : order_) sorted.push_back(value(column));
  return sorted;
}

void BidiagonalSvd::copy_columns(const MatrixRef& to, const std::vector<double>& from) const {
  CHECK(vectors_ && to.rows == size_ && to.columns <= size_, "singular vectors are there if they are wanted");
  for (std::int64_t i = 0; i < size_; ++i)
    for (std::int64_t j = 0; j < to.columns; ++j)
      to(i, j) = from[static_cast<std::size_t>(i * size_ + order_[static_cast<std::size_t>(j)])];
}

BidiagonalSvd::Merge::Merge(BidiagonalSvd& whole, const Part& part)
    : whole_(whole),
      part_(part),
      alpha_(whole.diagonal_[static_cast<std::size_t>(part.begin + part.middle())]),
      beta_(whole.beside_[static_cast<std::size_t>(part.begin + part.middle())]) {
  const auto n = whole.size_;
  const auto first = part.middle() + 1;
  if (whole.vectors_) {
    left_ = row_major(whole.left_.data(), n, n).block(part.begin, part.begin, part.size, part.size);
    const auto right =
        row_major(whole.right_.data(), n, n).block(part.begin, part.begin, part.columns(), part.columns());
    right_top_ = right.block(0, 0, first, part.columns());
    right_bottom_ = right.block(first, 0, part.columns() - first, part.columns());
  } else {
    const auto right = row_major(whole.right_.data(), 2, n).block(0, part.begin, 2, part.columns());
    right_top_ = right.block(0, 0, 1, part.columns());
    right_bottom_ = right.block(1, 0, 1, part.columns());
  }
}

void BidiagonalSvd::Merge::run() {
  read_entries();
  join_null_vectors();
  deflate();
  order_columns();
  find_roots();
  improve_z();
  make_right_vectors();
  replace(right_top_, right_bottom_);
  if (whole_.vectors_) {
    make_left_vectors();
    const auto middle = part_.middle();
    replace(left_.block(0, 0, middle, part_.size), left_.block(middle + 1, 0, part_.size - middle - 1, part_.size));
    const auto vectors = matrix();
    for (std::int64_t i = 0; i < part_.size; ++i) left_(middle, i) = i < count_ ? vectors(i, first_place_) : 0;
  }
  auto* values = whole_.values_.data() + part_.begin;
  for (std::size_t n = 0; n < roots_.size(); ++n) values[n] = unit_ * roots_[n];
  for (std::size_t n = 0; n < deflated_.size(); ++n) values[roots_.size() + n] = unit_ * deflated_[n].d;
}

// The row between the parts, in terms of their right vectors: the last row of V1 and the first of V2.
void BidiagonalSvd::Merge::read_entries() {
  const auto middle = part_.middle();
  const auto first = middle + 1;
  // Without vectors the last row of the first part stands below its first one.
  const auto last_of_top = whole_.vectors_ ? right_top_.block(middle, 0, 1, part_.columns()) : right_bottom_;
  const auto first_of_bottom = whole_.vectors_ ? right_bottom_.block(0, 0, 1, part_.columns()) : right_top_;
  const auto* values = whole_.values_.data() + part_.begin;
  auto largest = std::max(std::abs(alpha_), std::abs(beta_));
  for (std::int64_t j = 0; j < part_.size; ++j)
    if (j != middle) largest = std::max(largest, values[j]);
  scale_by(largest);
  entries_.reserve(static_cast<std::size_t>(part_.size));
  for (std::int64_t j = 0; j < part_.size; ++j) {
    if (j == middle) continue;
    const auto z = j < middle ? alpha_ * last_of_top(0, j) : beta_ * first_of_bottom(0, j);
    entries_.push_back({values[j] / unit_, z, j, j < middle ? Rows::Top : Rows::Bottom});
  }
  std::stable_sort(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) { return a.d < b.d; });
  first_z_ = alpha_ * last_of_top(0, middle);
  if (part_.extra == 1) null_z_ = beta_ * first_of_bottom(0, part_.size);
  if (whole_.vectors_) return;
  for (std::int64_t j = 0; j < part_.columns(); ++j) (j < first ? right_bottom_ : right_top_)(0, j) = 0;
}

// By a power of two, so that squares of what counts do not underflow in parts that are small beside others.
void BidiagonalSvd::Merge::scale_by(double largest) {
  constexpr int kMostExponent = 1000;
  int exponent = 0;
  std::frexp(largest, &exponent);
  unit_ = std::ldexp(1.0, std::clamp(exponent, -kMostExponent, kMostExponent));
  alpha_ /= unit_;
  beta_ /= unit_;
  least_ = kDeflated * (largest / unit_);
}

void BidiagonalSvd::Merge::join_null_vectors() {
  const auto middle = part_.middle();
  double c = 1;
  double s = 0;
  const auto size = std::hypot(first_z_, null_z_);
  if (size <= least_) {
    first_z_ = least_;
  } else if (part_.extra == 1) {
    c = first_z_ / size;
    s = null_z_ / size;
    first_z_ = size;
  }
  if (part_.extra == 0) return;
  for (std::int64_t i = 0; i < right_top_.rows; ++i) {
    const auto value = right_top_(i, middle);
    right_top_(i, middle) = c * value;
    right_top_(i, part_.size) = -s * value;
  }
  for (std::int64_t i = 0; i < right_bottom_.rows; ++i) {
    const auto value = right_bottom_(i, part_.size);
    right_bottom_(i, middle) = s * value;
    right_bottom_(i, part_.size) = c * value;
  }
}

// Entries whose element of the first row is zero have their singular value and vectors already. Of two with equal
// values one becomes such by a rotation of both.
void BidiagonalSvd::Merge::deflate() {
  std::vector<Entry> kept{{0, first_z_, part_.middle(), Rows::Both}};
  for (auto& entry : entries_) {
    if (std::abs(entry.z) <= least_) {
      deflated_.push_back(entry);
      continue;
    }
    if (kept.size() > 1 && entry.d - kept.back().d <= least_) {
      auto& last = kept.back();
      const auto size = std::hypot(entry.z, last.z);
      rotate(last, entry, entry.z / size, -last.z / size);
      if (entry.rows != last.rows) entry.rows = last.rows = Rows::Both;
      entry.z = size;
      deflated_.push_back(last);
      last = entry;
      continue;
    }
    kept.push_back(entry);
  }
  if (kept.size() > 1) kept[1].d = std::max(kept[1].d, least_ / 2);
  entries_ = std::move(kept);
  count_ = static_cast<std::int64_t>(entries_.size());
}

void BidiagonalSvd::Merge::rotate(const Entry& from, const Entry& into, double c, double s) {
  for (const auto& matrix : {left_, right_top_, right_bottom_}) {
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
      const auto x = matrix(i, from.column);
      const auto y = matrix(i, into.column);
      matrix(i, from.column) = c * x + s * y;
      matrix(i, into.column) = c * y - s * x;
    }
  }
}

void BidiagonalSvd::Merge::order_columns() {
  const auto add = [&](Rows rows, std::size_t begin) {
    for (auto n = begin; n < entries_.size(); ++n)
      if (entries_[n].rows == rows) place_of_.push_back(n);
  };
  add(Rows::Top, 1);
  first_place_ = static_cast<std::int64_t>(place_of_.size());
  place_of_.push_back(0);
  add(Rows::Both, 1);
  top_count_ = static_cast<std::int64_t>(place_of_.size());
  add(Rows::Bottom, 1);
}

// Leaves d^2 - root^2 in the matrix, a row for each root.
void BidiagonalSvd::Merge::find_roots() {
  roots_.resize(entries_.size());
  if (count_ == 1) {
    roots_[0] = std::abs(first_z_);
    return;
  }
  std::vector<double> weights;
  for (const auto& entry : entries_) weights.push_back(entry.z * entry.z);
  const SecularEquation equation(whole_.level_, weights.data(), count_);
  const auto distance = [&](std::int64_t j, std::int64_t n) {
    const auto a = entries_[static_cast<std::size_t>(j)].d;
    const auto b = entries_[static_cast<std::size_t>(n)].d;
    return (a - b) * (a + b);
  };
  const auto distances = matrix();
  const auto parts = parts_of(count_);
  for_each_part(parts, kOperationsOfRoot * count_ * count_, [&](std::int64_t part) {
    for (auto i = count_ * part / parts; i < count_ * (part + 1) / parts; ++i) {
      const auto root = equation.find(i, distance, &distances(i, 0));
      const auto pole = entries_[static_cast<std::size_t>(root.pole)].d;
      roots_[static_cast<std::size_t>(i)] = pole + root.offset / (pole + std::sqrt(pole * pole + root.offset));
    }
  });
}

// The first row of which the computed roots are the exact ones (Loewner's formula): vectors made of it are orthogonal
// to the last digits.
void BidiagonalSvd::Merge::improve_z() {
  if (count_ == 1) return;
  const auto distances = matrix();
  const auto parts = parts_of(count_);
  for_each_part(parts, kOperationsOfRoot * count_ * count_, [&](std::int64_t part) {
    const auto begin = count_ * part / parts;
    const auto end = count_ * (part + 1) / parts;
    std::vector<double> d;
    std::vector<double> squares;
    for (auto j = begin; j < end; ++j) {
      d.push_back(entries_[static_cast<std::size_t>(j)].d);
      squares.push_back(-distances(count_ - 1, j));
    }
    for (std::int64_t i = 0; i + 1 < count_; ++i) {
      const auto before = entries_[static_cast<std::size_t>(i)].d;
      const auto behind = entries_[static_cast<std::size_t>(i + 1)].d;
      const auto* row = &distances(i, begin);
      for (std::int64_t n = 0; n < end - begin; ++n) {
        const auto at = d[static_cast<std::size_t>(n)];
        const auto pole = begin + n <= i ? behind : before;
        squares[static_cast<std::size_t>(n)] *= row[n] / ((at - pole) * (at + pole));
      }
    }
    for (auto j = begin; j < end; ++j) {
      auto& z = entries_[static_cast<std::size_t>(j)].z;
      z = std::copysign(std::sqrt(std::abs(squares[static_cast<std::size_t>(j - begin)])), z);
    }
  });
}

// A row for each root, its elements in the order of the columns.
void BidiagonalSvd::Merge::make_right_vectors() {
  const auto vectors = matrix();
  scales_.assign(entries_.size(), 1);
  if (count_ == 1) {
    vectors(0, 0) = first_z_ < 0 ? -1 : 1;
    return;
  }
  const auto parts = parts_of(count_);
  for_each_part(parts, kOperationsOfRoot * count_ * count_, [&](std::int64_t part) {
    std::vector<double> row(entries_.size());
    for (auto i = count_ * part / parts; i < count_ * (part + 1) / parts; ++i) {
      double squares = 0;
      for (std::size_t j = 0; j < row.size(); ++j) {
        row[j] = entries_[j].z / vectors(i, static_cast<std::int64_t>(j));
        squares += row[j] * row[j];
      }
      const auto scale = 1 / std::sqrt(squares);
      scales_[static_cast<std::size_t>(i)] = scale;
      for (std::int64_t n = 0; n < count_; ++n) vectors(i, n) = scale * row[place_of_[static_cast<std::size_t>(n)]];
    }
  });
}

// Of the right ones: with d times each element, and -1 first, before they were scaled.
void BidiagonalSvd::Merge::make_left_vectors() {
  const auto vectors = matrix();
  if (count_ == 1) {
    vectors(0, 0) = 1;
    return;
  }
  const auto parts = parts_of(count_);
  for_each_part(parts, kOperationsOfRoot * count_ * count_, [&](std::int64_t part) {
    for (auto i = count_ * part / parts; i < count_ * (part + 1) / parts; ++i) {
      double squares = 0;
      for (std::int64_t n = 0; n < count_; ++n) {
        auto& value = vectors(i, n);
        value = n == first_place_ ? -scales_[static_cast<std::size_t>(i)] : value * entry_at(n).d;
        squares += value * value;
      }
      const auto scale = 1 / std::sqrt(squares);
      for (std::int64_t n = 0; n < count_; ++n) vectors(i, n) *= scale;
    }
  });
}

// The first columns of both matrices become their products with the vectors, those behind the deflated ones.
void BidiagonalSvd::Merge::replace(const MatrixRef& top, const MatrixRef& bottom) {
  const auto vectors = matrix().transposed();
  const auto bottom_begin = first_place_;
  const auto bottom_count = count_ - bottom_begin;
  const auto deflated = static_cast<std::int64_t>(deflated_.size());
  auto* room = temporary();
  const auto take = [&](std::int64_t rows, std::int64_t columns) {
    return row_major(std::exchange(room, room + rows * columns), rows, columns);
  };
  const auto of_top = take(top.rows, top_count_);
  const auto of_bottom = take(bottom.rows, bottom_count);
  const auto kept_top = take(top.rows, deflated);
  const auto kept_bottom = take(bottom.rows, deflated);
  const auto gather = [&](const MatrixRef& to, const MatrixRef& from, auto&& column) {
    for (std::int64_t i = 0; i < to.rows; ++i)
      for (std::int64_t n = 0; n < to.columns; ++n) to(i, n) = from(i, column(n));
  };
  const auto of_deflated = [&](std::int64_t n) { return deflated_[static_cast<std::size_t>(n)].column; };
  gather(of_top, top, [&](std::int64_t n) { return entry_at(n).column; });
  gather(of_bottom, bottom, [&](std::int64_t n) { return entry_at(bottom_begin + n).column; });
  gather(kept_top, top, of_deflated);
  gather(kept_bottom, bottom, of_deflated);
  const auto& level = whole_.level_;
  multiply(level, 1, of_top, vectors.block(0, 0, top_count_, count_), top.block(0, 0, top.rows, count_), true);
  multiply(level, 1, of_bottom, vectors.block(bottom_begin, 0, bottom_count, count_),
           bottom.block(0, 0, bottom.rows, count_), true);
  copy(top.block(0, count_, top.rows, deflated), kept_top);
  copy(bottom.block(0, count_, bottom.rows, deflated), kept_bottom);
}

}  // namespace eindb
