#include "engine/explain/explain.hpp"
#include "engine/explain/plan_picture.hpp"

namespace eindb {
namespace {

// JSON that can stand in a <script>, which ends at the first "</": no text of JSON needs a '<' as it is.
std::string json_for_script(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') out += "\\u003c";
    else out += c;
  }
  return out;
}

}  // namespace

std::string explain_html(const PlanDescription& plan) {
  std::string page =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>Plan</title>\n<style>\n";
  page += plan_picture_style();
  page +=
      "html, body { height: 100%; margin: 0; }\n.eindb-plan { height: 100%; }\n</style>\n</head>\n<body>\n"
      "<main id=\"plan\" aria-label=\"plan\"></main>\n<script type=\"application/json\" id=\"data\">";
  page += json_for_script(explain_json(plan));
  page += "</script>\n<script>\n";
  page += plan_picture_script();
  page +=
      "EindbPlan.draw(document.getElementById(\"plan\"), JSON.parse(document.getElementById(\"data\").textContent));\n"
      "</script>\n</body>\n</html>";
  return page;
}

}  // namespace eindb
