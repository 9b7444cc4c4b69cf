#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tensor/access_form.hpp"
#include "tensor/contraction_form.hpp"
#include "tensor/einsum.hpp"
#include "tensor/pair_form.hpp"
#include "tensor/scan_form.hpp"

namespace eindb {

/// The kernels of an EinSum. A call's sizes decide between Matrices or Pairs and Loops.
enum class KernelKind : std::uint8_t {
  Matrices,  ///< matrix products
  Pairs,     ///< blocks of a function of two operands, aggregated as a matrix product adds up
  Access,    ///< cells at computed indices
  Scan,      ///< running aggregates
  Block,     ///< functions of whole vectors and matrices
  Loops,     ///< loops over the cells of the join
};

/// The sizes of the dimensions that labels of each role make up together.
struct RoleSizes {
  double batch = 1;
  double left = 1;
  double right = 1;
  double contracted = 1;
};

/// `sizes`: of each label. Labels that only one operand has and that are summed first count nothing.
RoleSizes role_sizes(const std::vector<ContractionRole>& roles, std::span<const std::int64_t> sizes);

/// The kernel that large calls of an EinSum take, and a reason that may keep smaller ones from it.
struct KernelForm {
  KernelKind best = KernelKind::Loops;
  bool rounds_sums = false;  ///< it adds up floating-point numbers
  bool of_vectors = false;   ///< those of a matrix and a vector take Matrices, whatever is best for others

  friend auto operator<=>(const KernelForm&, const KernelForm&) = default;
};

/// The kernel that a call of these sizes takes: that of the form, or loops where they do as well or better, or sum more
/// exactly. The optimizer counts costs by this rule (optimizer/partitions/calibrated_model), and the executor runs
/// calls by it (executor/kernels/kernel).
KernelKind kernel_for(const KernelForm& form, const RoleSizes& sizes);

/// How the kernels that can compute an EinSum see it. `typed`: conversions are written into its expression
/// (tensor/scalar_types). Immutable, thread-safe.
class KernelChoice {
 public:
  KernelChoice(const EinSum& typed, DType compute);

  /// Set where matrix products can compute it.
  const std::optional<ContractionForm>& contraction() const { return contraction_; }
  /// Set where pair blocks can, and matrix products cannot, or only of matrices times vectors: in INT64.
  const std::optional<PairForm>& pair() const { return pair_; }
  /// Set where it is an access, whatever the sizes.
  const std::optional<AccessForm>& access() const { return access_; }
  /// Set where it is a scan, likewise.
  const std::optional<ScanForm>& scan() const { return scan_; }
  const KernelForm& form() const { return form_; }

  /// The kernel that a call on labels of these sizes takes.
  KernelKind kind(std::span<const std::int64_t> sizes) const;

 private:
  std::optional<AccessForm> access_;
  std::optional<ScanForm> scan_;
  std::optional<ContractionForm> contraction_;
  std::optional<PairForm> pair_;
  KernelForm form_;
};

/// The EinSum with MAX or MIN in place of a user's aggregate that may be split and combines by GREATEST or LEAST alone:
/// kernels compute it likewise, but for the aggregate of no cells. Any other EinSum unchanged, and also a scan
/// (tensor/scan_form), which has that aggregate beside ELSE.
EinSum with_plain_extreme(EinSum einsum, DType compute);

/// A search for an index in the values of a join of two operands (is_search in tensor/pair_form), as one EinSum: its
/// operands are the other one of `search`, and then those of the join. nullopt if pair blocks do not compute it on
/// whole labels. Fused kernels run it in place of both, and costs are counted so.
std::optional<EinSum> with_join_taken_in(const EinSum& search, std::size_t operand, const EinSum& join, DType compute,
                                         const LabelTable& labels);

}  // namespace eindb
