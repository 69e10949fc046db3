// Readers of nvidia-smi's outputs. Bad input gives fewer values or an error, never a wrong number.
#pragma once

#include <string_view>

#include "node-agent/gpu/reading.h"

namespace vagt::agent {

// `--query-gpu=… --format=csv`: columns are known by their header names. InvalidArgument: no
// header, or no column that names the GPUs.
Result<GpuSnapshot> parse_smi_csv(std::string_view text);
// `-q -x`, schemas v10 to v13. InvalidArgument: not such a document.
Result<GpuSnapshot> parse_smi_xml(std::string_view text);
// `nvlink -s`, one GPU after the other; matched to `snapshot` by UUID, new ones are added.
void read_nvlink_status(std::string_view text, GpuSnapshot& snapshot);
// `nvlink -e`, for links that the status named.
void read_nvlink_errors(std::string_view text, GpuSnapshot& snapshot);

// The number of a cell, without its unit: "630.25 W", "16x", "P8", "0x1F", Yes and No. nullopt:
// there is none ("N/A", "[Not Supported]", "ERR!", …).
std::optional<double> smi_number(std::string_view cell);
// 0..4 of "None", "GPU Reset", …; nullopt: not said.
std::optional<double> smi_recovery_action(std::string_view text);
// The error a cell stands for: "[GPU is lost]" is kGpuIsLost; kGpuOk when it is none.
int smi_error(std::string_view cell);
// "N/A" and the like become "".
std::string smi_text(std::string_view cell);

}  // namespace vagt::agent
