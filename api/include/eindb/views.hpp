#pragma once

// Tensors that lie in the memory of a C++ program, as it describes them to eindb. Included by eindb/eindb.hpp.

#include <complex>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#define EINDB_API __attribute__((visibility("default")))

namespace eindb {

/// The types that elements have in a program's memory.
enum class ElementType : std::uint8_t { Float32, Float64, Complex64, Complex128, Int64 };

/// "FLOAT32", ...
EINDB_API std::string_view to_string(ElementType type) noexcept;

/// The types of C++ that are element types.
template <class T>
concept Element = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::complex<float>> ||
    std::same_as<T, std::complex<double>> || std::same_as<T, std::int64_t>;

/// The element type that a type of C++ is.
template <Element T>
constexpr ElementType element_type_of() noexcept {
  if constexpr (std::same_as<T, float>) return ElementType::Float32;
  else if constexpr (std::same_as<T, double>) return ElementType::Float64;
  else if constexpr (std::same_as<T, std::complex<float>>) return ElementType::Complex64;
  else if constexpr (std::same_as<T, std::complex<double>>) return ElementType::Complex128;
  else return ElementType::Int64;
}

/// A tensor in the program's memory: element (i, j, ...) is at data[i * strides[0] + j * strides[1] + ...]. Strides are
/// in elements. A stride of zero repeats a dimension; a negative one traverses the memory backwards, with `data` still
/// at element (0, 0, ...). A value that owns nothing.
///
/// eindb never copies the whole tensor; it reads one tile after the other. Contiguous tiles are read in place; those of
/// row-major tensors, and of ranges of their first dimension, are contiguous. With other layouts each tile is copied
/// when it is needed, and the copies count against memory_limit.
struct TensorView {
  ElementType type = ElementType::Float64;  ///< of each element
  const void* data = nullptr;               ///< where element (0, 0, ...) is; may be null if there is no element
  std::vector<std::int64_t> extents;        ///< one for each dimension, not negative
  std::vector<std::int64_t> strides;        ///< one for each dimension, in elements
  std::vector<std::string> labels;          ///< column names in SQL; empty: i, j, k, ...

  /// Without strides the layout is row-major.
  template <Element T>
  static TensorView of(const T* data, std::vector<std::int64_t> extents) {
    TensorView view{element_type_of<T>(), data, std::move(extents), {}, {}};
    view.strides.resize(view.extents.size());
    std::uint64_t stride = 1;  // an overflow is rejected when the view is used
    for (std::size_t d = view.extents.size(); d-- > 0; stride *= static_cast<std::uint64_t>(view.extents[d]))
      view.strides[d] = static_cast<std::int64_t>(stride);
    return view;
  }
  /// With strides, one for each dimension, in elements.
  template <Element T>
  static TensorView of(const T* data, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides) {
    return {element_type_of<T>(), data, std::move(extents), std::move(strides), {}};
  }

  /// The same view with labels, one for each dimension.
  TensorView with_labels(std::vector<std::string> names) const {
    auto view = *this;
    view.labels = std::move(names);
    return view;
  }
};

/// The types that indices of cells have in a program's memory.
template <class I>
concept CellIndex = std::same_as<I, std::int32_t> || std::same_as<I, std::int64_t>;

/// A tensor of few cells in the program's memory, which is zero elsewhere: cells by their coordinates (COO), or a
/// matrix by its rows (CSR), as SciPy and most libraries have them. A value that owns nothing.
///
/// Cells in order are read where they lie: a matrix by its rows whose columns ascend in each row, and coordinates that
/// ascend, the first dimension first. Others are sorted in a copy, and indices of 64 bits are narrowed in one. Either
/// way the indices are checked when the view is used, once; beside the cells there are 12 bytes for each row with
/// cells, or for each node of the outer dimensions. So the arrays must stay as those of a TensorView must, and their
/// values may change likewise between statements; the indices must stay unchanged until the tensor is replaced or
/// detached, or is bound no more. Each cell is there once. Plans know how many cells there are, and compute with them
/// alone where that takes less time.
struct CellsView {
  ElementType type = ElementType::Float64;  ///< of each value
  const void* values = nullptr;             ///< one for each cell
  std::int64_t count = 0;                   ///< of cells
  std::vector<std::int64_t> extents;        ///< one for each dimension, 1 to 2^31
  bool has_wide_indices = false;            ///< whether indices are std::int64_t; otherwise std::int32_t
  /// For each dimension the index of every cell. `begins` set: of the columns alone.
  std::vector<const void*> indices;
  /// Of a matrix by rows: row r has the cells begins[r] to before begins[r + 1]; extents[0] + 1 of them, like indices.
  const void* begins = nullptr;
  std::vector<std::string> labels;  ///< column names in SQL; empty: i, j, k, ...

  /// COO. `indices` has a pointer for each dimension, to `count` indices.
  template <Element T, CellIndex I>
  static CellsView coo(const T* values, std::int64_t count, const std::vector<const I*>& indices,
                       std::vector<std::int64_t> extents) {
    CellsView view{element_type_of<T>(), values, count, std::move(extents), sizeof(I) == 8, {}, nullptr, {}};
    view.indices.assign(indices.begin(), indices.end());
    return view;
  }
  /// CSR of a matrix with so many rows and columns: `begins` has rows + 1 numbers, the last is the count of cells.
  template <Element T, CellIndex I>
  static CellsView csr(const T* values, const I* begins, const I* columns, std::int64_t rows,
                       std::int64_t column_count) {
    const auto count = rows >= 0 && begins != nullptr ? static_cast<std::int64_t>(begins[rows]) : 0;
    return {element_type_of<T>(), values, count, {rows, column_count}, sizeof(I) == 8, {columns}, begins, {}};
  }

  /// The same view with labels, one for each dimension.
  CellsView with_labels(std::vector<std::string> names) const {
    auto view = *this;
    view.labels = std::move(names);
    return view;
  }
};

}  // namespace eindb
