// The default templates against recorded texts of the real ones (cases lie outside the tree).
#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "notify/renderer.h"
#include "tests/support/status_matchers.h"

namespace vagt::notify {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::filesystem::path kit() {
  const char* shared = std::getenv("VAGT_SHARED");
  return std::filesystem::path(shared != nullptr ? shared : "../shared") / "alertmanager/templates";
}

TEST(TemplatesKit, DefaultTextsAreEqual) {
  if (!std::filesystem::exists(kit() / "cases.json"))
    GTEST_SKIP() << "no recorded cases at " << kit();
  size_t run = 0;
  for (const char* file : {"cases.json", "new_cases.json"}) {
    const auto cases = boost::json::parse(read(kit() / file)).as_array();
    for (const auto& item : cases) {
      const auto& c = item.as_object();
      const std::string text(c.at("text").as_string());
      if (c.at("type").as_string() != "text" || !c.contains("output")) continue;
      if (text.find("default.") == std::string::npos && text.find("\"__") == std::string::npos)
        continue;
      const auto data = parse_template_data(
          read(kit() / "data" / (std::string(c.at("data").as_string()) + ".json")));
      ASSERT_THAT(data, test::IsOk());
      const auto library =
          TemplateLibrary::load({(kit() / std::string(c.at("glob").as_string())).string()});
      ASSERT_THAT(library, test::IsOk());
      const auto out = (*library)->set().render(text, data->to_value());
      ASSERT_THAT(out, test::IsOk()) << text;
      EXPECT_EQ(*out, std::string(c.at("output").as_string())) << text;
      ++run;
    }
  }
  EXPECT_GT(run, 20u);
}

}  // namespace
}  // namespace vagt::notify
