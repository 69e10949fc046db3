// alert, silence, config and cluster against a scripted API.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/cli/fake_api.h"

namespace vagt {
namespace {

using net::ServerRequest;
using net::ServerResponse;
using test::FakeApi;
using test::Ran;
using test::run_tool;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kAlerts =
    R"([{"annotations":{"summary":"Fan"},"endsAt":"2026-03-01T12:05:00.000Z","fingerprint":"f2","receivers":[{"name":"a"}],"startsAt":"2026-03-01T12:00:00.000Z","status":{"inhibitedBy":[],"silencedBy":[],"state":"suppressed"},"updatedAt":"2026-03-01T12:00:00.000Z","labels":{"alertname":"Late"}},)"
    R"({"annotations":{},"endsAt":"2026-03-01T12:05:00.000Z","fingerprint":"f1","receivers":[{"name":"a"}],"startsAt":"2026-03-01T11:00:00.000Z","status":{"inhibitedBy":[],"silencedBy":[],"state":"active"},"updatedAt":"2026-03-01T12:00:00.000Z","generatorURL":"http://g","labels":{"alertname":"GpuHot","host":"a"}}])";

Ran run_at(const FakeApi& api, std::vector<std::string> arguments, const std::string& in = "") {
  arguments.insert(arguments.begin(),
                   {"--alertmanager.url=" + api.url() + "/", "--no-version-check"});
  return run_tool(std::move(arguments), in);
}

std::vector<std::string> all(const ServerRequest& request, const std::string& name) {
  std::vector<std::string> out;
  for (const auto value : request.param_all(name)) out.emplace_back(value);
  return out;
}

TEST(AlertQuery, SimpleTableIsSortedByStart) {
  FakeApi api([](const ServerRequest&) { return ServerResponse::json(200, kAlerts); });
  const Ran ran = run_at(api, {"alert"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "Alertname  Starts At                Summary  State       \n"
            "GpuHot     2026-03-01 11:00:00 UTC           active      \n"
            "Late       2026-03-01 12:00:00 UTC  Fan      suppressed  \n");
  const ServerRequest request = api.requests().at(0);
  EXPECT_EQ(request.path, "/api/v2/alerts");
  EXPECT_EQ(request.param("active"), "true");
  EXPECT_EQ(request.param("silenced"), "false");
}

TEST(AlertQuery, FlagsAndMatchersBecomeParameters) {
  FakeApi api([](const ServerRequest&) { return ServerResponse::json(200, "[]"); });
  EXPECT_EQ(run_at(api, {"alert", "--silenced", "GpuHot", "host=~\"a|b\"", "-r", "x.*"}).code, 0);
  EXPECT_EQ(run_at(api, {"alert", "query", "-i", "-u", "host!=a"}).code, 0);
  const auto requests = api.requests();
  EXPECT_THAT(all(requests.at(0), "filter"), ElementsAre("alertname=GpuHot", "host=~\"a|b\""));
  EXPECT_EQ(requests[0].param("silenced"), "true");
  EXPECT_EQ(requests[0].param("active"), "false");
  EXPECT_EQ(requests[0].param("receiver"), "x.*");
  EXPECT_THAT(all(requests.at(1), "filter"), ElementsAre("host!=a"));
  EXPECT_EQ(requests[1].param("inhibited"), "true");
  EXPECT_EQ(requests[1].param("unprocessed"), "true");
}

TEST(AlertQuery, ExtendedAndJson) {
  FakeApi api([](const ServerRequest&) { return ServerResponse::json(200, kAlerts); });
  EXPECT_THAT(run_at(api, {"-o", "extended", "alert", "query"}).out,
              HasSubstr("alertname=\"GpuHot\" host=\"a\""));
  const Ran json = run_at(api, {"-o", "json", "alert", "query"});
  EXPECT_EQ(json.out, std::string(kAlerts) + "\n");
  EXPECT_EQ(run_at(api, {"-o", "xml", "alert", "query"}).code, 1);
}

TEST(AlertQuery, ErrorsOfTheServerAndTheNetwork) {
  FakeApi api([](const ServerRequest&) { return ServerResponse::json(400, "\"bad matcher\""); });
  const Ran refused = run_at(api, {"alert", "query"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.err, "vagtctl: error: [GET /alerts][400] getAlertsBadRequest  bad matcher\n");
  const Ran nobody =
      run_tool({"--alertmanager.url=http://me:hunter2@127.0.0.1:1", "alert", "query"});
  EXPECT_EQ(nobody.code, 1);
  EXPECT_THAT(nobody.err, HasSubstr("connection refused"));
  EXPECT_THAT(nobody.err, testing::Not(HasSubstr("hunter2")));
}

TEST(AlertAdd, LabelsAnnotationsAndTimes) {
  FakeApi api([](const ServerRequest&) { return ServerResponse::json(200, ""); });
  const Ran ran =
      run_at(api, {"alert", "add", "GpuHot", "host=a", "--annotation=summary=GPU 3 is hot",
                   "--annotation=url=http://x", "--start=2026-01-01T00:00:00Z"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "");
  const ServerRequest request = api.requests().at(0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(
      request.body,
      R"([{"labels":{"alertname":"GpuHot","host":"a"},"annotations":{"summary":"GPU 3 is hot","url":"http://x"},"startsAt":"2026-01-01T00:00:00Z","generatorURL":""}])");
}

TEST(AlertAdd, AnEndAloneStartsNow) {
  FakeApi api([](const ServerRequest&) { return ServerResponse::json(200, ""); });
  EXPECT_EQ(run_at(api, {"alert", "add", "X", "--end=2199-01-01T00:00:00Z"}).code, 0);
  EXPECT_THAT(api.requests().at(0).body, HasSubstr("\"startsAt\":\"20"));
  EXPECT_THAT(api.requests().at(0).body, HasSubstr("\"endsAt\":\"2199-01-01T00:00:00Z\""));
}

TEST(AlertAdd, AMatcherThatWentWrongIsNoName) {
  EXPECT_THAT(run_tool({"alert", "add", "x y=1"}).err, HasSubstr("bad matcher format: x y=1"));
  EXPECT_THAT(run_tool({"silence", "add", "a=~(", "-c", "x"}).err, HasSubstr("missing closing )"));
}

TEST(Program, WordsThatAreNoVerbsAreNamed) {
  EXPECT_THAT(run_tool({"nope"}).err, HasSubstr("expected command but got \"nope\""));
  EXPECT_THAT(run_tool({"query", "nope"}).err, HasSubstr("expected command but got \"nope\""));
  EXPECT_THAT(run_tool({"--bogus"}).err, HasSubstr("unknown flag --bogus"));
}

TEST(AlertAdd, OnlyEqualityIsALabel) {
  const Ran ran = run_tool({"alert", "add", "X", "a=~b"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("labels must be specified as key=value pairs"));
}

std::string silence_json(const std::string& id, const std::string& ends, const std::string& by) {
  return R"({"id":")" + id +
         R"(","status":{"state":"active"},"updatedAt":"2026-03-01T12:00:00.000Z","comment":"c","createdBy":")" +
         by + R"(","endsAt":")" + ends +
         R"(","matchers":[{"isEqual":true,"isRegex":false,"name":"host","value":"b"},{"isEqual":false,"isRegex":true,"name":"x","value":"y\"z"}],"startsAt":"2026-03-01T11:00:00.000Z"})";
}

TEST(SilenceAdd, PostsAndPrintsTheId) {
  FakeApi api(
      [](const ServerRequest&) { return ServerResponse::json(200, R"({"silenceID":"id-1"})"); });
  const Ran ran = run_at(api, {"silence", "add", "Disk", "host!~\"a.*\"", "--comment=disk swap",
                               "--author=ops", "--start=2036-01-01T00:00:00Z", "-d", "2h"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "id-1\n");
  EXPECT_EQ(
      api.requests().at(0).body,
      R"({"matchers":[{"name":"alertname","value":"Disk","isRegex":false,"isEqual":true},{"name":"host","value":"a.*","isRegex":true,"isEqual":false}],"startsAt":"2036-01-01T00:00:00Z","endsAt":"2036-01-01T02:00:00Z","createdBy":"ops","comment":"disk swap"})");
}

TEST(SilenceAdd, Refusals) {
  const auto error = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"silence", "add"});
    const Ran ran = run_tool(arguments);
    EXPECT_EQ(ran.code, 1);
    return ran.err;
  };
  EXPECT_EQ(error({"a=b"}), "vagtctl: error: comment required by config\n");
  EXPECT_EQ(error({"-c", "x"}), "vagtctl: error: no matchers specified\n");
  EXPECT_EQ(error({"a=b", "-c", "x", "-d", "5x"}),
            "vagtctl: error: not a valid duration string: \"5x\"\n");
  EXPECT_EQ(error({"a=b", "-c", "x", "-d", "0s"}),
            "vagtctl: error: silence duration must be greater than 0\n");
  EXPECT_EQ(error({"a=b", "-c", "x", "--end=2001-01-01T00:00:00Z"}),
            "vagtctl: error: silence cannot start after it ends\n");
}

TEST(SilenceQuery, FiltersByStateAuthorAndTime) {
  FakeApi api([](const ServerRequest&) {
    return ServerResponse::json(200,
                                "[" + silence_json("old", "2020-01-01T00:00:00.000Z", "ops") + "," +
                                    silence_json("far", "2090-01-01T00:00:00.000Z", "ops") + "," +
                                    silence_json("other", "2080-01-01T00:00:00.000Z", "me") + "]");
  });
  EXPECT_EQ(run_at(api, {"silence", "query", "-q"}).out, "other\nfar\n");
  EXPECT_EQ(run_at(api, {"silence", "-q", "--expired"}).out, "old\n");
  EXPECT_EQ(run_at(api, {"silence", "query", "-q", "--created-by=me"}).out, "other\n");
  EXPECT_EQ(run_at(api, {"silence", "query", "-q", "--within=8h"}).out, "");
  const Ran table = run_at(api, {"silence", "query", "--created-by=me", "host=b"});
  EXPECT_THAT(
      table.out,
      HasSubstr(
          "other  host=\"b\" x!~\"y\\\"z\"  2080-01-01 00:00:00 UTC  me          c        \n"));
  EXPECT_THAT(all(api.requests().back(), "filter"), ElementsAre("host=b"));
}

TEST(SilenceExpire, EachIdIsDeleted) {
  FakeApi api([](const ServerRequest& request) {
    const bool known = request.path == "/api/v2/silence/id-1";
    return known ? ServerResponse::json(200, "") : ServerResponse::json(404, "\"not found\"");
  });
  EXPECT_EQ(run_at(api, {"silence", "expire", "id-1"}).code, 0);
  EXPECT_EQ(api.requests().at(0).method, "DELETE");
  EXPECT_EQ(run_at(api, {"silence", "expire", "id-1", "id-2"}).code, 1);
  EXPECT_THAT(run_tool({"silence", "expire"}).err, HasSubstr("no silence IDs specified"));
}

TEST(SilenceUpdate, ChangesOnlyWhatIsAsked) {
  FakeApi api([](const ServerRequest& request) {
    if (request.method == "POST") return ServerResponse::json(200, R"({"silenceID":"id-2"})");
    return ServerResponse::json(200, silence_json("id-1", "2090-01-01T00:00:00.000Z", "ops"));
  });
  const Ran ran = run_at(api, {"silence", "update", "--duration=3h", "--comment=longer", "id-1"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto requests = api.requests();
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(requests[2].path, "/api/v2/silence/id-2");
  EXPECT_THAT(requests[1].body, HasSubstr(R"("id":"id-1")"));
  EXPECT_THAT(requests[1].body,
              HasSubstr(R"("endsAt":"2026-03-01T14:00:00Z","createdBy":"ops","comment":"longer")"));
}

TEST(SilenceImport, UnknownIdsAreMadeAnew) {
  FakeApi api([](const ServerRequest& request) {
    if (request.body.find("\"id\"") != std::string::npos)
      return ServerResponse::json(404, "\"silence not found\"");
    return ServerResponse::json(200, R"({"silenceID":"new"})");
  });
  const std::string input = "[" + silence_json("gone", "2090-01-01T00:00:00.000Z", "ops") + "]";
  const Ran ran = run_at(api, {"silence", "import"}, input);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "new\n");
  EXPECT_EQ(api.requests().size(), 2u);
  EXPECT_EQ(run_at(api, {"silence", "import", "--force"}, input).code, 0);
  EXPECT_EQ(api.requests().size(), 3u);
  EXPECT_EQ(run_at(api, {"silence", "import"}, "nonsense").code, 1);
  EXPECT_THAT(run_at(api, {"silence", "import", "nosuch.json"}).err,
              HasSubstr("path 'nosuch.json' does not exist"));
}

constexpr const char* kStatus =
    R"({"cluster":{"peers":[],"status":"disabled"},"config":{"original":"route:\n  receiver: def\n  routes:\n  - receiver: gpu\n    matchers: [team=\"gpu\"]\n    continue: true\n  - receiver: crit\n    matchers: [severity=\"critical\"]\nreceivers:\n- name: def\n- name: gpu\n- name: crit\n"},"uptime":"2026-11-30T20:19:42.584Z","versionInfo":{"branch":"b","buildDate":"d","buildUser":"u","goVersion":"g","revision":"r","version":"0.34"}})";

TEST(ConfigVerbs, ShowRoutesAndCluster) {
  FakeApi api([](const ServerRequest&) { return ServerResponse::json(200, kStatus); });
  EXPECT_THAT(run_at(api, {"config"}).out, StartsWith("route:\n"));
  EXPECT_THAT(run_at(api, {"-o", "extended", "config", "show"}).out, HasSubstr("version 0.34\n"));
  EXPECT_EQ(run_at(api, {"cluster"}).out, "Cluster Status:  disabled\nNode Name:       \n");
  EXPECT_EQ(run_at(api, {"config", "routes"}).out,
            "Routing tree:\n"
            ".\n"
            "└── default-route  receiver: def\n"
            "    ├── {team=\"gpu\"}  continue: true  receiver: gpu\n"
            "    └── {severity=\"critical\"}  receiver: crit\n"
            "\n");
}

TEST(ConfigVerbs, RoutesTest) {
  FakeApi api([](const ServerRequest&) { return ServerResponse::json(200, kStatus); });
  EXPECT_EQ(run_at(api, {"config", "routes", "test", "team=gpu", "severity=critical"}).out,
            "gpu,crit\n");
  EXPECT_EQ(run_at(api, {"config", "routes", "test", "--verify.receivers=gpu", "team=gpu"}).code,
            0);
  const Ran wrong = run_at(api, {"config", "routes", "test", "--verify.receivers=def", "team=gpu"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_EQ(wrong.out, "gpu\nWARNING: Expected receivers did not match resolved receivers.\n");
  EXPECT_EQ(
      run_at(api, {"config", "routes", "test", "--tree", "team=gpu", "severity=critical"}).out,
      "Matching routes:\n"
      ".\n"
      "└── default-route\n"
      "    ├── {team=\"gpu\"}  receiver: gpu\n"
      "    └── {severity=\"critical\"}  receiver: crit\n"
      "\n"
      "\n"
      "gpu,crit\n");
}

TEST(ToolConfig, FilesGiveDefaults) {
  FakeApi api(
      [](const ServerRequest&) { return ServerResponse::json(200, R"({"silenceID":"id-1"})"); });
  const std::string home = testing::TempDir() + "vagt_home_" + std::to_string(::getpid());
  std::filesystem::create_directories(home + "/.config/amtool");
  std::ofstream(home + "/.config/amtool/config.yml")
      << "alertmanager.url: " << api.url() << "\nauthor: oncall\ncomment_required: false\n";
  EXPECT_EQ(run_tool({"silence", "add", "a=b"}, "", home).code, 0);
  EXPECT_THAT(api.requests().at(0).body, HasSubstr(R"("createdBy":"oncall","comment":"")"));
  std::filesystem::create_directories(home + "/.config/vagt");
  std::ofstream(home + "/.config/vagt/config.yml") << "author: [a, list]\n";
  const Ran bad = run_tool({"silence", "add", "a=b"}, "", home);
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.err, HasSubstr("config.yml:1:9: expected a single value for author"));
  std::filesystem::remove_all(home);
}

TEST(CommandLine, HelpVersionAndMistakes) {
  const Ran help = run_tool({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("Examples:"));
  for (const std::vector<std::string>& verb : std::vector<std::vector<std::string>>{
           {"alert", "query"},           {"alert", "add"},      {"silence", "add"},
           {"silence", "query"},         {"silence", "expire"}, {"silence", "update"},
           {"silence", "import"},        {"config", "show"},    {"config", "routes", "show"},
           {"config", "routes", "test"}, {"check-config"},      {"check", "config"},
           {"check", "rules"},           {"check", "metrics"},  {"test", "rules"},
           {"promql", "format"},         {"query", "instant"},  {"query", "range"},
           {"query", "series"},          {"query", "labels"},   {"template", "render"},
           {"cluster", "show"}}) {
    std::vector<std::string> arguments = verb;
    arguments.emplace_back("--help");
    const Ran ran = run_tool(arguments);
    EXPECT_EQ(ran.code, 0) << verb.back();
    EXPECT_THAT(ran.out, HasSubstr("Example")) << verb.back();
  }
  EXPECT_EQ(run_tool({"help", "silence", "add"}).code, 0);
  EXPECT_THAT(run_tool({"--version"}).out, HasSubstr("vagtctl"));
  EXPECT_EQ(run_tool({}).code, 1);
  EXPECT_EQ(run_tool({"nosuch"}).code, 1);
  EXPECT_EQ(run_tool({"alert", "query", "--nosuch"}).code, 1);
}

TEST(AlertQuery, AnswersOfAnotherShapeAreNoAlerts) {
  for (const char* body :
       {"{}", "[7]", "[{}]", R"([{"labels":1,"startsAt":"2026-01-01T00:00:00Z"}])",
        R"([{"labels":{},"startsAt":"soon"}])"}) {
    const FakeApi api([body](const ServerRequest&) { return ServerResponse::json(200, body); });
    const auto ran = run_tool({"--alertmanager.url", api.url(), "alert", "query"});
    EXPECT_EQ(ran.code, 1) << body;
    EXPECT_EQ(ran.out, "") << body;
  }
  for (const char* body : {"{}", "[7]", "[{}]", R"([{"id":"a","matchers":[7]}])"}) {
    const FakeApi api([body](const ServerRequest&) { return ServerResponse::json(200, body); });
    const auto ran = run_tool({"--alertmanager.url", api.url(), "silence", "query"});
    EXPECT_EQ(ran.code, 1) << body;
    EXPECT_EQ(ran.out, "") << body;
  }
}

}  // namespace
}  // namespace vagt
