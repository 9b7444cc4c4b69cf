#pragma once

#include <optional>
#include <string>

#include "common/source_span.hpp"
#include "plan/distributed_type.hpp"
#include "plan/redistribution_plan.hpp"

namespace eindb {

/// A text in quotes, and its place in the statement, with the quotes.
struct QuotedText {
  std::string text;
  SourceSpan place;
};

/// How a tensor gets from one distributed type to another, and what else it could be.
struct RedistributionDescription {
  DistributedType source;
  DistributedType target;
  std::optional<RedistributionPlan> plan = {};      ///< nullopt: no collectives lead there
  std::optional<RedistributionPlan> fallback = {};  ///< gathering everything, then slicing
  MovedElements pieces = {};                        ///< of one exchange in which each rank receives what it lacks
  bool simulated = false;                           ///< whether the plan was run on virtual ranks, cell by cell
};

/// Plans by the paper's costs (array redistribution, section 5), in elements. `mesh` null: what the types tell. Throws
/// Error{Syntax}, Error{UnknownName}, Error{Shape} or Error{Value} with the place in the statement where types or mesh
/// make no sense, or are of different tensors.
RedistributionDescription describe_redistribution(const QuotedText& source, const QuotedText& target,
                                                  const QuotedText* mesh);

std::string explain_text(const RedistributionDescription& redistribution);
/// An object with the keys mesh, ranks, bound, source, target, plan and fallback (null, or steps, cost, peak_elements
/// and received_elements), pieces (received_elements, most_received_elements) and simulated. A step has collective,
/// parts, cost, and type where a type over the mesh in prime factors describes the placement after it.
std::string explain_json(const RedistributionDescription& redistribution);

}  // namespace eindb
