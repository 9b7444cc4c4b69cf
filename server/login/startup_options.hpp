#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eindb {

/// What a client's parameter `options` sets, as PostgreSQL's command line would: "-c name=value", "--name=value"; a
/// backslash keeps the character behind it, as a space, in a value. Names are words. Error{Value} for anything else.
std::vector<std::pair<std::string, std::string>> parse_startup_options(std::string_view options);

}  // namespace eindb
