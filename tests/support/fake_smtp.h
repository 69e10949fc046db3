// A mail server on loopback: keeps what it is sent and refuses what it is told to refuse.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/script_server.h"
#include "tests/support/tls_wire.h"

namespace vagt::test {

struct ReceivedMail {
  std::string hello, from;
  std::vector<std::string> to;
  std::string data;  // dot-stuffing undone
  std::string
      login;  // "PLAIN <base64>", "LOGIN <base64 user> <base64 password>", "CRAM-MD5 <base64>"
  bool was_encrypted = false;
};

class FakeSmtp {
 public:
  struct Options {
    std::vector<std::string> extensions;  // "AUTH PLAIN LOGIN", "STARTTLS"
    std::map<std::string, std::string>
        refusals;            // command word → whole reply: {"RCPT", "550 no such user"}
    SSL_CTX* tls = nullptr;  // for STARTTLS, or at once with implicit_tls
    bool implicit_tls = false;
  };

  explicit FakeSmtp(Options options)
      : options_(std::move(options)), server_([this](Wire& wire) { serve(wire); }) {}

  uint16_t port() const { return server_.port(); }
  std::vector<ReceivedMail> mails() const {
    const std::lock_guard lock(mutex_);
    return mails_;
  }
  std::vector<std::string> commands() const {
    const std::lock_guard lock(mutex_);
    return commands_;
  }

 private:
  // Plain until STARTTLS.
  struct Line {
    Wire& wire;
    std::optional<TlsWire> tls;
    bool send(const std::string& text) {
      return tls ? tls->send(text + "\r\n") : wire.send(text + "\r\n");
    }
    std::string read(std::string_view end = "\r\n") {
      std::string text = tls ? tls->read_until(end) : wire.read_until(end);
      if (!text.ends_with(end)) return "";
      return text.substr(0, text.size() - end.size());
    }
  };

  void serve(Wire& wire) {
    Line line{wire, std::nullopt};
    if (options_.implicit_tls) {
      line.tls.emplace(options_.tls, wire.fd());
      if (!line.tls->is_open()) return;
    }
    ReceivedMail mail;
    mail.was_encrypted = line.tls.has_value();
    line.send("220 fake.example ESMTP");
    while (true) {
      const std::string command = line.read();
      if (command.empty()) return;
      const std::string word = command.substr(0, command.find_first_of(" :"));
      {
        const std::lock_guard lock(mutex_);
        commands_.push_back(command);
      }
      if (word == "QUIT") {
        line.send("221 bye");
        return;
      }
      if (const auto refusal = options_.refusals.find(word); refusal != options_.refusals.end()) {
        line.send(refusal->second);
        continue;
      }
      if (!handle(word, command, line, mail)) return;
    }
  }

  bool handle(const std::string& word, const std::string& command, Line& line, ReceivedMail& mail) {
    if (word == "EHLO" || word == "HELO") {
      mail.hello = command.substr(5);
      std::string reply;
      for (const auto& extension : options_.extensions) {
        if (extension == "STARTTLS" && line.tls) continue;
        reply += "250-" + extension + "\r\n";
      }
      return line.send("250-fake.example\r\n" + reply + "250 OK");
    }
    if (word == "STARTTLS") {
      line.send("220 go ahead");
      line.tls.emplace(options_.tls, line.wire.fd());
      mail = {};
      mail.was_encrypted = true;
      return line.tls->is_open();
    }
    if (word == "AUTH") return authenticate(command, line, mail);
    if (word == "MAIL") {
      mail.from = between(command);
      return line.send("250 OK");
    }
    if (word == "RCPT") {
      mail.to.push_back(between(command));
      return line.send("250 OK");
    }
    if (word == "DATA") return take_data(line, mail);
    return line.send("500 what");
  }

  bool authenticate(const std::string& command, Line& line, ReceivedMail& mail) {
    mail.login = command.substr(5);
    const int questions = mail.login == "LOGIN" ? 2 : 1;
    for (int i = 0; i < questions; ++i) {
      line.send(mail.login.starts_with("CRAM") ? "334 PDEyMzQuNTY3OEBmYWtlPg==" : "334 ");
      mail.login += " " + line.read();
    }
    if (const auto refusal = options_.refusals.find("LOGIN"); refusal != options_.refusals.end()) {
      return line.send(refusal->second);
    }
    return line.send("235 welcome");
  }

  bool take_data(Line& line, ReceivedMail& mail) {
    line.send("354 go on");
    while (true) {
      std::string text = line.read();
      if (text == ".") break;
      if (text.starts_with('.')) text.erase(0, 1);
      mail.data += text + "\r\n";
    }
    if (const auto refusal = options_.refusals.find("."); refusal != options_.refusals.end()) {
      return line.send(refusal->second);
    }
    {
      const std::lock_guard lock(mutex_);
      mails_.push_back(mail);
    }
    mail.data.clear();
    mail.to.clear();
    return line.send("250 queued as 42");
  }

  static std::string between(const std::string& command) {
    const size_t open = command.find('<');
    const size_t close = command.find('>');
    return command.substr(open + 1, close - open - 1);
  }

  const Options options_;
  mutable std::mutex mutex_;
  std::vector<ReceivedMail> mails_;
  std::vector<std::string> commands_;
  ScriptServer server_;  // last: its threads use the others
};

}  // namespace vagt::test
