#pragma once

#include <boost/asio/ip/address.hpp>
#include <string>

namespace eindb {

/// Whom limits for an address are counted for: in version 6 the network of 2^64 addresses that one customer has; an
/// address of version 4 that is written as one of version 6 is that of version 4.
std::string counted_address(const boost::asio::ip::address& address);

}  // namespace eindb
