#include "notify/receivers/exec.h"

#include "notify/receivers/webhook.h"

namespace vagt::notify {
namespace {

class ExecNotifier final : public Notifier {
 public:
  explicit ExecNotifier(const ExecConfig& config) : config_(config) {}
  Result<TransferRequest> render(const Notification& n, Renderer& r) const override {
    ExecTransfer exec;
    for (const std::string& argument : config_.command) {
      VAGT_TRY(std::string text, r.required("command", argument));
      exec.command.push_back(std::move(text));
    }
    exec.environment = {{"VAGT_STATUS", std::string(n.status())},
                        {"VAGT_RECEIVER", n.receiver},
                        {"VAGT_GROUP_KEY", n.group_key}};
    exec.input = webhook_json(n, n.truncated_alerts);
    exec.timeout = config_.timeout;
    return TransferRequest{std::move(exec), nullptr};
  }
  SendOutcome judge(const TransferReply& reply) const override {
    SendOutcome out;
    if (reply.answered() && reply.status == 0) return out;
    out.result = SendResult::Retry;
    out.detail = reply.answered() ? "command ended with status " + std::to_string(reply.status) +
                                        ": " + truncate_bytes(reply.body, 512)
                                  : reply.failure.message();
    // Not found or not executable will not change by itself.
    if (reply.answered() && (reply.status == 126 || reply.status == 127))
      out.result = SendResult::Reject;
    if (!reply.answered() && reply.failure.code() == Code::InvalidArgument)
      out.result = SendResult::Reject;
    return out;
  }

 private:
  const ExecConfig config_;
};

}  // namespace

std::unique_ptr<Notifier> make_exec_notifier(const ExecConfig& config) {
  return std::make_unique<ExecNotifier>(config);
}

}  // namespace vagt::notify
