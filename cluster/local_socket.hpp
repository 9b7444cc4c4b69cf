#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "common/file_descriptor.hpp"

namespace eindb {

// Data connections between nodes of one host go through sockets of the host (AF_UNIX), which take a part of the time of
// TCP. A node that listens at an address also listens at the abstract name that is made of it: names of a network
// namespace, like its addresses, which end with the process and leave no file. Anybody on the host may take a name
// first; therefore both sides ask the kernel for the user of the other one, and whoever is not of the same user is
// refused or, by the side that connects, reached over TCP. The handshake is the same as over TCP.

/// A socket that listens for nodes of this host; none if the name is not to be had, or the address is that of all
/// interfaces.
FileDescriptor listen_on_host(const boost::asio::ip::tcp::endpoint& endpoint);

/// A connection to the node of this host and user that listens at the address; none: there is no such node, or it does
/// not take connections so. Does not wait.
FileDescriptor connect_on_host(const boost::asio::ip::tcp::endpoint& endpoint);

/// Whether the process at the other end of such a socket is of this process's user.
bool is_of_same_user(int socket);

}  // namespace eindb
