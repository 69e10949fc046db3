// Runs one local command to its end or its timeout, without a shell.
#pragma once

#include "notify/transfer.h"

namespace vagt::notify {

// Blocks. The status is the exit status (128 + signal when killed), the body what it printed, cut
// at 64 KiB. Failures: InvalidArgument (cannot be started), Timeout (killed).
TransferReply run_command(const ExecTransfer& command);

}  // namespace vagt::notify
