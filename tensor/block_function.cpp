#include "tensor/block_function.hpp"

namespace eindb {

std::string_view name_of(BlockOp op) {
  switch (op) {
    case BlockOp::Order: return "sort";
    case BlockOp::Quantile: return "quantile";
    case BlockOp::Mode: return "mode";
    case BlockOp::Distinct: return "distinct";
    case BlockOp::UniqueOrder: return "unique";
    case BlockOp::UniqueCount: return "unique count";
    case BlockOp::UniqueNumber: return "unique number";
    case BlockOp::Fourier: return "fft";
    case BlockOp::InverseFourier: return "inverse fft";
    case BlockOp::SumRecurrence: return "running sum";
    case BlockOp::MaxRecurrence: return "running maximum";
    case BlockOp::MinRecurrence: return "running minimum";
    case BlockOp::LogSumExpRecurrence: return "running LOGSUMEXP";
    case BlockOp::UserRecurrence: return "running aggregate";
    case BlockOp::Inverse: return "inverse";
    case BlockOp::PseudoInverse: return "pseudo-inverse";
    case BlockOp::Cholesky: return "cholesky";
    case BlockOp::Exponential: return "exponential";
    case BlockOp::Determinant: return "determinant";
    case BlockOp::LogDeterminant: return "log determinant";
    case BlockOp::Solve: return "solve";
    case BlockOp::LeastSquares: return "least squares";
    case BlockOp::Qr: return "qr";
    case BlockOp::Svd: return "svd";
    case BlockOp::Eigh: return "eigh";
  }
  return "";
}

}  // namespace eindb
