#include "engine/query/query_place.hpp"

#include <algorithm>

#include "cluster/cluster.hpp"
#include "common/checked_math.hpp"
#include "tensor/packed_size.hpp"

namespace eindb {
namespace {

// The bytes of whole tiles that a scan of a stored tensor reads; of tiles of few cells, those in which they are stored.
double bytes_of_tiles(const InputTensor& tensor) {
  if (tensor.cells && !tensor.selection)
    return packed_bytes_of_cells(tensor.dtype, static_cast<double>(tensor.grid.shape().element_count()),
                                 tensor.cells->cells);
  const auto& stored = tensor.stored_grid();
  auto bytes = static_cast<double>(tensor.grid.tile_count()) * static_cast<double>(size_of(tensor.dtype));
  for (std::size_t d = 0; d < stored.rank(); ++d)
    bytes *= static_cast<double>(ceil_divide(stored.shape()[d], stored.partition()[d]));
  return bytes;
}

}  // namespace

TransportCosts transport_costs(const SessionState& session) {
  const auto* cluster = session.database.cluster.get();
  const auto& machine = session.user.machine();
  return cluster != nullptr && cluster->transport() == Transport::Mpi ? machine.mpi.value_or(TransportCosts::of_mpi())
                                                                      : machine.tcp.value_or(TransportCosts::of_tcp());
}

PlaceChoice PlaceCosts::choose(double work) const {
  const PlaceChoice choice{false, fetch + work, exchange + work / computing};
  return {choice.seconds_here <= choice.seconds_at_workers, choice.seconds_here, choice.seconds_at_workers};
}

PlaceCosts place_costs(const EinGraph& graph, SessionState& session) {
  CHECK(session.database.cluster != nullptr, "a query has two places where there is a cluster");
  const auto& cluster = *session.database.cluster;
  const auto workers = cluster.workers().size();
  const auto ranks = std::min(workers + (cluster.coordinator_computes() ? 1 : 0),
                              static_cast<std::size_t>(session.user.settings.workers()));
  const auto costs = transport_costs(session);
  PlaceCosts out;
  out.exchange = costs.per_exchange + static_cast<double>(workers) * costs.per_peer;
  out.computing = static_cast<double>(std::max<std::size_t>(ranks, 1));
  for (const auto& vertex : graph.vertices()) {
    if (!vertex.stored || vertex.stored->attached) continue;
    const auto& tensor = *vertex.stored;
    if (!session.database.catalog.get(tensor.name).is_sharded()) continue;
    const auto tiles = static_cast<double>(tensor.grid.tile_count()) * (tensor.cells ? tensor.present : 1);
    out.fetch += tiles * costs.per_piece + bytes_of_tiles(tensor) * costs.per_byte;
  }
  return out;
}

double least_work(const OptimizedPlan& plan, const MachineFigures& figures) {
  // The operations on all values tell nothing of those on cells.
  const auto& vertices = plan.graph.vertices();
  if (std::any_of(vertices.begin(), vertices.end(), [](const Vertex& vertex) { return vertex.cells.has_value(); }))
    return 0;
  double fastest = 0;
  for (const auto& rates : figures.kernels)
    for (const auto rate : rates.matrix_product) fastest = std::max(fastest, rate);
  return fastest > 0 ? plan.path.flops / (fastest * std::max(figures.compute_scaling, 1.0)) : 0;
}

}  // namespace eindb
