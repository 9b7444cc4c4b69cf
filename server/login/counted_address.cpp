#include "server/login/counted_address.hpp"

#include <algorithm>

namespace eindb {

namespace ip = boost::asio::ip;

std::string counted_address(const ip::address& address) {
  if (address.is_v4()) return address.to_string();
  const auto v6 = address.to_v6();
  if (v6.is_v4_mapped()) return ip::make_address_v4(ip::v4_mapped, v6).to_string();
  auto bytes = v6.to_bytes();
  std::fill(bytes.begin() + bytes.size() / 2, bytes.end(), static_cast<unsigned char>(0));
  return ip::address_v6(bytes).to_string();
}

}  // namespace eindb
