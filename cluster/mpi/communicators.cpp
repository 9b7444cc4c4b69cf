#include "cluster/mpi/communicators.hpp"

#include <vector>

#include "common/check.hpp"

namespace eindb::mpi {

namespace {

Communicator make(MPI_Comm world, const Exchange::Group& ranks) {
  const std::vector<int> members(ranks.begin(), ranks.end());
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  check(MPI_Comm_group(world, &all), "MPI_Comm_group");
  check(MPI_Group_incl(all, static_cast<int>(members.size()), members.data(), &group), "MPI_Group_incl");
  MPI_Comm comm = MPI_COMM_NULL;
  check(MPI_Comm_create_group(world, group, 0, &comm), "MPI_Comm_create_group");
  MPI_Group_free(&group);
  MPI_Group_free(&all);
  return Communicator(comm);
}

}  // namespace

MPI_Comm Communicators::of(const Exchange::Group& group) {
  CHECK(!group.empty(), "a group that meets has members");
  auto found = groups_.find(group);
  if (found == groups_.end()) {
    const auto inside = gate_.enter();
    found = groups_.emplace(group, make(world_.get(), group)).first;
  }
  return found->second.get();
}

}  // namespace eindb::mpi
