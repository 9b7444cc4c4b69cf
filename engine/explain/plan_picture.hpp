#pragma once

#include <string_view>

namespace eindb {

/// The files of web/plan, which draw the picture of a plan in a browser.
std::string_view plan_picture_script();
std::string_view plan_picture_style();

}  // namespace eindb
