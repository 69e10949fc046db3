#include "net/smtp.h"

#include <gtest/gtest.h>

#include <condition_variable>

#include "tests/support/fake_smtp.h"
#include "tests/support/status_matchers.h"

namespace vagt::net {
namespace {

using test::FakeSmtp;
using test::IsOk;
using test::StatusIs;

SmtpRequest mail_to(uint16_t port) {
  SmtpRequest request;
  request.host = "127.0.0.1";
  request.port = std::to_string(port);
  request.hello = "watch.example";
  request.require_tls = false;
  request.from = "vagt@example.com";
  request.to = {"one@example.com", "two@example.com"};
  request.message = "Subject: hi\r\n\r\nline\r\n.dot\r\n..two\r\nend\r\n";
  request.timeout = std::chrono::seconds(5);
  return request;
}

Result<SmtpReply> send(SmtpRequest request) {
  std::mutex mutex;
  std::condition_variable done;
  std::optional<Result<SmtpReply>> result;
  SmtpClient client;
  client.send(std::move(request), [&](Result<SmtpReply> reply) {
    const std::lock_guard lock(mutex);
    result.emplace(std::move(reply));
    done.notify_all();
  });
  std::unique_lock lock(mutex);
  done.wait(lock, [&] { return result.has_value(); });
  return std::move(*result);
}

TEST(Smtp, MailArrivesAsWritten) {
  FakeSmtp server({});
  const SmtpRequest request = mail_to(server.port());
  const auto reply = send(request);
  ASSERT_THAT(reply, IsOk());
  EXPECT_EQ(reply->code, 250);
  EXPECT_EQ(reply->text, "250 queued as 42");
  const auto mails = server.mails();
  ASSERT_EQ(mails.size(), 1u);
  EXPECT_EQ(mails[0].hello, "watch.example");
  EXPECT_EQ(mails[0].from, "vagt@example.com");
  EXPECT_EQ(mails[0].to, request.to);
  EXPECT_EQ(mails[0].data, request.message);
  EXPECT_EQ(mails[0].login, "");
}

TEST(Smtp, LoginMethods) {
  const auto login = [](const std::string& offered, const char* password, const char* secret) {
    FakeSmtp server(
        {.extensions = {offered}, .refusals = {}, .tls = nullptr, .implicit_tls = false});
    SmtpRequest request = mail_to(server.port());
    request.auth_username = "user";
    request.auth_password = Secret(password);
    request.auth_secret = Secret(secret);
    EXPECT_THAT(send(request), IsOk());
    const auto mails = server.mails();
    return mails.empty() ? std::string("none") : mails[0].login;
  };
  EXPECT_EQ(login("AUTH PLAIN LOGIN", "pass", ""), "PLAIN AHVzZXIAcGFzcw==");
  EXPECT_EQ(login("AUTH LOGIN", "pass", ""), "LOGIN dXNlcg== cGFzcw==");
  EXPECT_TRUE(login("AUTH CRAM-MD5", "", "secret").starts_with("CRAM-MD5 "));
  EXPECT_EQ(login("SIZE 1000", "pass", ""), "");  // no AUTH offered: as Alertmanager, go on without
}

TEST(Smtp, PermanentAndTemporaryRefusals) {
  const auto outcome = [](const std::string& command, const std::string& reply) {
    FakeSmtp server({.extensions = {"AUTH PLAIN"},
                     .refusals = {{command, reply}},
                     .tls = nullptr,
                     .implicit_tls = false});
    SmtpRequest request = mail_to(server.port());
    if (command == "LOGIN") {
      request.auth_username = "user";
      request.auth_password = Secret("hunter2");
    }
    const auto result = send(request);
    EXPECT_TRUE(server.mails().empty());
    EXPECT_EQ(result.status().message().find("hunter2"), std::string::npos);
    return result.status();
  };
  EXPECT_THAT(outcome("MAIL", "451 try later"), StatusIs(Code::Unavailable, "451 try later"));
  EXPECT_THAT(outcome("RCPT", "550 no such user"),
              StatusIs(Code::InvalidArgument, "550 no such user"));
  EXPECT_THAT(outcome("DATA", "421 busy"), StatusIs(Code::Unavailable, "421 busy"));
  EXPECT_THAT(outcome(".", "554 looks like spam"),
              StatusIs(Code::InvalidArgument, "554 looks like spam"));
  EXPECT_THAT(outcome("LOGIN", "535 wrong"), StatusIs(Code::InvalidArgument, "535 wrong"));
  EXPECT_THAT(outcome("LOGIN", "454 later"), StatusIs(Code::Unavailable, "454 later"));
}

TEST(Smtp, TlsThatIsNotOfferedIsRefused) {
  FakeSmtp server({});
  SmtpRequest request = mail_to(server.port());
  request.require_tls = true;
  EXPECT_THAT(send(request), StatusIs(Code::InvalidArgument, "does not offer STARTTLS"));
  EXPECT_TRUE(server.mails().empty());
}

TEST(Smtp, StartTlsBeforeAuth) {
  const test::Certificate ca("DNS:ca");
  const test::Certificate certificate("DNS:mail.example", &ca);
  const auto context = test::server_context(certificate);
  FakeSmtp server({.extensions = {"STARTTLS", "AUTH PLAIN"},
                   .refusals = {},
                   .tls = context.get(),
                   .implicit_tls = false});
  SmtpRequest request = mail_to(server.port());
  request.require_tls = true;
  request.auth_username = "user";
  request.auth_password = Secret("pass");
  request.tls.ca = ca.pem();
  request.tls.server_name = "mail.example";
  ASSERT_THAT(send(request), IsOk());
  const auto mails = server.mails();
  ASSERT_EQ(mails.size(), 1u);
  EXPECT_TRUE(mails[0].was_encrypted);
  EXPECT_EQ(mails[0].login, "PLAIN AHVzZXIAcGFzcw==");

  request.tls.server_name = "other.example";
  EXPECT_THAT(send(request), StatusIs(Code::Unavailable, "tls: "));
  EXPECT_EQ(server.mails().size(), 1u);
}

TEST(Smtp, ImplicitTls) {
  const test::Certificate certificate("IP:127.0.0.1");
  const auto context = test::server_context(certificate);
  FakeSmtp server({.extensions = {}, .refusals = {}, .tls = context.get(), .implicit_tls = true});
  SmtpRequest request = mail_to(server.port());
  request.implicit_tls = true;
  request.tls.ca = certificate.pem();
  ASSERT_THAT(send(request), IsOk());
  EXPECT_TRUE(server.mails().at(0).was_encrypted);
}

TEST(Smtp, NobodyThere) {
  uint16_t port = 0;
  {
    port = test::ScriptServer([](test::Wire&) {}).port();
  }
  EXPECT_THAT(send(mail_to(port)), StatusIs(Code::Unavailable, "connect: connection refused"));
}

TEST(Smtp, SilentServer) {
  test::ScriptServer server([](test::Wire& wire) { wire.read_all(); });
  SmtpRequest request = mail_to(server.port());
  request.timeout = std::chrono::milliseconds(100);
  EXPECT_THAT(send(request), StatusIs(Code::Timeout));
}

TEST(Smtp, AddressesCannotSmuggleCommands) {
  SmtpRequest request = mail_to(1);
  request.to = {"a@b>\r\nRCPT TO:<c@d"};
  EXPECT_THAT(send(request), StatusIs(Code::InvalidArgument));
  request.to = {};
  EXPECT_THAT(send(request), StatusIs(Code::InvalidArgument, "no recipient"));
}

}  // namespace
}  // namespace vagt::net
