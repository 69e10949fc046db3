#include "scrape/discovery/dns_discovery.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "scrape/discovery/dns_lookup.h"
#include "tests/scrape/discovery_sink.h"
#include "tests/scrape/dns_server.h"

namespace vagt::scrape {
namespace {

using namespace std::chrono_literals;
using test::DnsServer;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class DnsDiscoveryTest : public ::testing::Test {
 protected:
  // Questions go to the script, by way of a resolv.conf of our own.
  void serve(DnsServer::Script script, const std::string& more = "") {
    server = std::make_unique<DnsServer>(std::move(script));
    resolv_conf = ::testing::TempDir() + "resolv." + std::to_string(server->port());
    std::ofstream(resolv_conf) << "# ours\nnameserver 127.0.0.1\noptions timeout:1\n" << more;
  }
  ~DnsDiscoveryTest() override { std::filesystem::remove(resolv_conf); }
  test::RunningSource& start(const std::string& type, std::vector<std::string> names,
                             uint16_t port = 9100) {
    DnsDiscoveryConfig config;
    config.type = type, config.names = std::move(names), config.port = port;
    config.refresh_interval = 20ms;
    source = std::make_unique<test::RunningSource>(
        make_dns_discovery(config, {resolv_conf, server->port()}, registry));
    return *source;
  }

  base::Registry registry;
  std::unique_ptr<DnsServer> server;
  std::string resolv_conf;
  std::unique_ptr<test::RunningSource> source;
};

TEST_F(DnsDiscoveryTest, ServiceRecordsNameHostAndPort) {
  serve([](const DnsServer::Question& q) -> DnsServer::Answer {
    EXPECT_EQ(q.name, "_node._tcp.gpu.example.");
    EXPECT_EQ(q.type, 33u);
    return {0,
            {test::dns_record(33, test::srv_data(9100, "b.example")),
             test::dns_record(33, test::srv_data(9101, "a.example"))}};
  });
  auto& run = start("SRV", {"_node._tcp.gpu.example"}, 0);
  ASSERT_TRUE(run.sink.wait_addresses({"a.example:9101", "b.example:9100"})) << run.sink.error();
  const TextMap labels = test::labels_at(run.sink.groups(), "a.example:9101");
  EXPECT_THAT(labels, Contains(Pair("__meta_dns_name", "_node._tcp.gpu.example")));
  EXPECT_THAT(labels, Contains(Pair("__meta_dns_srv_record_target", "a.example.")));
  EXPECT_THAT(labels, Contains(Pair("__meta_dns_srv_record_port", "9101")));
}

TEST_F(DnsDiscoveryTest, AddressesTakeThePortOfTheConfiguration) {
  serve([](const DnsServer::Question&) -> DnsServer::Answer {
    return {0,
            {test::dns_record(5, test::dns_name("alias.example")),
             test::dns_record(1, std::string("\x0A\x00\x00\x07", 4))}};
  });
  ASSERT_TRUE(start("A", {"gpu.example"}).sink.wait_addresses({"10.0.0.7:9100"}));
}

TEST_F(DnsDiscoveryTest, IPv6AddressesStandInBrackets) {
  serve([](const DnsServer::Question& q) -> DnsServer::Answer {
    EXPECT_EQ(q.type, 28u);
    return {0, {test::dns_record(28, std::string(15, '\0') + '\1')}};
  });
  ASSERT_TRUE(start("AAAA", {"gpu.example"}).sink.wait_addresses({"[::1]:9100"}));
}

TEST_F(DnsDiscoveryTest, MailAndNameServers) {
  serve([](const DnsServer::Question& q) -> DnsServer::Answer {
    std::string preference("\0\x0A", 2);
    return {0,
            {test::dns_record(q.type,
                              (q.type == 15 ? preference : "") + test::dns_name("host.example"))}};
  });
  auto& mail = start("MX", {"example"});
  ASSERT_TRUE(mail.sink.wait_addresses({"host.example:9100"}));
  EXPECT_THAT(test::labels_at(mail.sink.groups(), "host.example:9100"),
              Contains(Pair("__meta_dns_mx_record_target", "host.example.")));
  auto& name = start("NS", {"example"});
  ASSERT_TRUE(name.sink.wait_addresses({"host.example:9100"}));
  EXPECT_THAT(test::labels_at(name.sink.groups(), "host.example:9100"),
              Contains(Pair("__meta_dns_ns_record_target", "host.example.")));
}

// Appear, change, vanish, source down and back, malformed answers.
TEST_F(DnsDiscoveryTest, ADeadServerKeepsTheLastTargets) {
  std::atomic<int> phase{0};
  serve([&phase](const DnsServer::Question&) -> DnsServer::Answer {
    const std::string one("\x0A\x00\x00\x01", 4), two("\x0A\x00\x00\x02", 4);
    switch (phase) {
      case 0:
        return {0, {test::dns_record(1, one)}};
      case 1:
        return {0, {test::dns_record(1, one), test::dns_record(1, two)}};
      case 2: {
        DnsServer::Answer silence;
        silence.is_silent = true;
        return silence;
      }
      case 3:
        return {2, {}};  // SERVFAIL
      case 4:
        return {0, {test::dns_record(1, "\x0A\x00\x01")}};  // no address
      case 5:
        return {0, {test::dns_record(1, two)}};
      default:
        return {3, {}};  // no such name
    }
  });
  auto& run = start("A", {"gpu.example"});
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9100"}));
  phase = 1;
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.1:9100", "10.0.0.2:9100"}));
  phase = 2;
  ASSERT_TRUE(run.sink.wait_error("i/o timeout"));
  EXPECT_THAT(run.sink.addresses(), ElementsAre("10.0.0.1:9100", "10.0.0.2:9100"));
  phase = 3;
  ASSERT_TRUE(run.sink.wait_error("answer code 2"));
  EXPECT_THAT(run.sink.addresses(), ElementsAre("10.0.0.1:9100", "10.0.0.2:9100"));
  phase = 4;
  ASSERT_TRUE(run.sink.wait_error("wrong length"));
  EXPECT_THAT(run.sink.addresses(), ElementsAre("10.0.0.1:9100", "10.0.0.2:9100"));
  phase = 5;
  ASSERT_TRUE(run.sink.wait_addresses({"10.0.0.2:9100"}));
  phase = 6;
  ASSERT_TRUE(run.sink.wait_addresses({}));
  EXPECT_GE(registry.counter("prometheus_sd_dns_lookup_failures_total", "").value(), 2);
}

TEST_F(DnsDiscoveryTest, OneNameThatFailsLeavesTheOthersAlone) {
  serve([](const DnsServer::Question& q) -> DnsServer::Answer {
    if (q.name == "bad.example.") return {2, {}};
    return {0, {test::dns_record(1, std::string("\x0A\x00\x00\x01", 4))}};
  });
  auto& run = start("A", {"good.example", "bad.example"});
  ASSERT_TRUE(run.sink.wait_error("bad.example"));
  EXPECT_THAT(run.sink.addresses(), ElementsAre("10.0.0.1:9100"));
}

TEST_F(DnsDiscoveryTest, AnAnswerTooLargeForUdpIsFetchedOverTcp) {
  serve([](const DnsServer::Question& q) -> DnsServer::Answer {
    DnsServer::Answer answer;
    answer.is_truncated = !q.is_tcp;
    for (int i = 0; q.is_tcp && i < 200; ++i)
      answer.records.push_back(
          test::dns_record(1, std::string("\x0A\x00\x00", 3) + static_cast<char>(i)));
    return answer;
  });
  auto& run = start("A", {"gpu.example"});
  ASSERT_TRUE(run.sink.wait([](const auto& addresses, const std::string& error) {
    return addresses.size() == 200 && error.empty();
  })) << run.sink.error();
}

TEST_F(DnsDiscoveryTest, AnswersToOtherQuestionsAreIgnored) {
  serve([](const DnsServer::Question&) -> DnsServer::Answer {
    DnsServer::Answer answer{0, {test::dns_record(1, std::string("\x0A\x00\x00\x01", 4))}};
    answer.has_other_id = true;
    return answer;
  });
  ASSERT_TRUE(start("A", {"gpu.example"}).sink.wait_addresses({"10.0.0.1:9100"}));
}

TEST_F(DnsDiscoveryTest, TheSearchListIsApplied) {
  serve(
      [](const DnsServer::Question& q) -> DnsServer::Answer {
        if (q.name != "gpu.lab.example.") return {3, {}};
        return {0, {test::dns_record(1, std::string("\x0A\x00\x00\x01", 4))}};
      },
      "search other.example lab.example\n");
  ASSERT_TRUE(start("A", {"gpu"}).sink.wait_addresses({"10.0.0.1:9100"}));
}

TEST_F(DnsDiscoveryTest, AScopeNamesTheInterfaceOfANameServer) {
  serve([](const DnsServer::Question&) -> DnsServer::Answer { return {}; });
  // The scope reaches the socket: no such interface here, and a server that is none.
  for (const auto& [server_address, words] :
       {std::pair{"fe80::1%vagtnone0", "no network interface \"vagtnone0\""},
        std::pair{"fe80::1%", "no address of a name server"}, std::pair{"fe80::1%lo", ""}}) {
    std::ofstream(resolv_conf) << "nameserver " << server_address << "\noptions timeout:1\n";
    const auto servers = read_resolv_conf(resolv_conf);
    ASSERT_TRUE(servers.ok());
    EXPECT_THAT(servers->addresses, ElementsAre(server_address));
    const auto records = lookup_dns(*servers, "gpu.example", DnsType::A, {});
    ASSERT_FALSE(records.ok()) << server_address;
    EXPECT_THAT(records.error().message(), HasSubstr(words)) << server_address;
  }
}

TEST_F(DnsDiscoveryTest, AMissingResolvConfIsSaid) {
  serve([](const DnsServer::Question&) -> DnsServer::Answer { return {}; });
  std::filesystem::remove(resolv_conf);
  ASSERT_TRUE(start("A", {"gpu.example"}).sink.wait_error("could not load resolv.conf"));
}

std::string answer_with(const std::string& rest) {
  std::string message = encode_dns_query(7, "a.example", DnsType::A, false).value();
  message[2] = '\x81', message[3] = '\x80', message[7] = '\1';
  return message + rest;
}

TEST(DnsMessage, LiesAreNoAnswers) {
  const std::string good = answer_with(test::dns_record(1, "\x01\x02\x03\x04"));
  ASSERT_TRUE(decode_dns_answer(good, 7, "a.example", DnsType::A).ok());
  EXPECT_EQ(decode_dns_answer(good, 8, "a.example", DnsType::A).error().code(), Code::NotFound);
  EXPECT_EQ(decode_dns_answer(good, 7, "b.example", DnsType::A).error().code(), Code::NotFound);
  EXPECT_EQ(decode_dns_answer(good, 7, "a.example", DnsType::MX).error().code(), Code::NotFound);
  // Every cut is noticed.
  for (size_t n = 0; n < good.size(); ++n) {
    EXPECT_FALSE(
        decode_dns_answer(std::string_view(good).substr(0, n), 7, "a.example", DnsType::A).ok())
        << n;
  }
  // A name that points to itself, one that points ahead, an address of three bytes.
  const std::string self = std::string("\xC0") + static_cast<char>(27);
  EXPECT_FALSE(decode_dns_answer(answer_with(self + test::dns_record(1, "1234").substr(2)), 7,
                                 "a.example", DnsType::A)
                   .ok());
  EXPECT_FALSE(
      decode_dns_answer(answer_with(test::dns_record(1, "123")), 7, "a.example", DnsType::A).ok());
  const std::string loop = test::dns_record(2, std::string("\xC0") + static_cast<char>(39));
  EXPECT_THAT(decode_dns_answer(answer_with(loop), 7, "a.example", DnsType::A).error().message(),
              HasSubstr("points to itself"));
}

TEST(DnsMessage, NamesThatAreNoneAreRefused) {
  EXPECT_FALSE(encode_dns_query(1, std::string(64, 'a') + ".example", DnsType::A, true).ok());
  EXPECT_FALSE(encode_dns_query(1, "a..example", DnsType::A, true).ok());
  EXPECT_FALSE(encode_dns_query(1, std::string(300, 'a'), DnsType::A, true).ok());
}

TEST(DnsNames, AreTriedInTheResolversOrder) {
  DnsServers servers;
  servers.search = {"x", "y."};
  EXPECT_THAT(dns_name_list(servers, "a"), ElementsAre("a.x.", "a.y.", "a."));
  EXPECT_THAT(dns_name_list(servers, "a.b"), ElementsAre("a.b.", "a.b.x.", "a.b.y."));
  EXPECT_THAT(dns_name_list(servers, "a.b."), ElementsAre("a.b."));
}

}  // namespace
}  // namespace vagt::scrape
