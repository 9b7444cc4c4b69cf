#pragma once

#include <boost/asio/ip/address.hpp>
#include <string>

namespace eindb {

/// The unit that limits per address count: for IPv6 the network of 2^64 addresses that one customer has. An IPv4
/// address in IPv6 notation counts as IPv4.
std::string counted_address(const boost::asio::ip::address& address);

}  // namespace eindb
