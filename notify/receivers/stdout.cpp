#include "notify/receivers/stdout.h"

namespace vagt::notify {
namespace {

class StdoutNotifier final : public Notifier {
 public:
  explicit StdoutNotifier(const StdoutConfig& config) : config_(config) {}
  Result<TransferRequest> render(const Notification&, Renderer& r) const override {
    std::string text = r.text("text", config_.text);
    if (!text.ends_with('\n')) text.push_back('\n');
    return TransferRequest{PrintTransfer{std::move(text)}, nullptr};
  }
  SendOutcome judge(const TransferReply& reply) const override {
    SendOutcome out;
    if (reply.answered()) return out;
    out.result = SendResult::Retry;
    out.detail = reply.failure.message();
    return out;
  }

 private:
  const StdoutConfig config_;
};

}  // namespace

std::unique_ptr<Notifier> make_stdout_notifier(const StdoutConfig& config) {
  return std::make_unique<StdoutNotifier>(config);
}

}  // namespace vagt::notify
