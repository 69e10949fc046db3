// A library that plays NVML: GPU 0 is an H100, 1 an RTX 5090 without ECC, 2 hangs while it is told
// to, 3 is lost, 4 is an H100 cut into two MIG instances (handles 101 and 103; 102 is a gap).
// Functions an old driver lacks are missing here too.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>

namespace {

std::atomic<bool> hang{false};
std::atomic<int> init_result{0}, count_result{0};
std::atomic<unsigned> gpus{4};
std::atomic<int> gpm_samples{0};

// Handles are 1 plus the index.
long index_of(void* device) { return reinterpret_cast<long>(device) - 1; }

int answer(void* device) {
  if (index_of(device) >= 100) return 0;
  if (index_of(device) == 3) return 15;
  while (index_of(device) == 2 && hang.load()) std::this_thread::yield();
  return 0;
}

int copy(const char* text, char* out, unsigned size) {
  std::strncpy(out, text, size);
  return 0;
}

}  // namespace

extern "C" {

void fake_set(int hanging, int init, int count, unsigned n) {
  hang = hanging != 0;
  init_result = init;
  count_result = count;
  gpus = n;
}

int nvmlInit_v2() { return init_result; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* n) {
  *n = gpus;
  return count_result;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = reinterpret_cast<void*>(static_cast<long>(index) + 1);
  return 0;
}
int nvmlSystemGetDriverVersion(char* out, unsigned size) { return copy("570.133.20", out, size); }
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 12080;
  return 0;
}
int nvmlDeviceGetUUID(void* device, char* out, unsigned size) {
  const char* const names[] = {"GPU-0", "GPU-1", "GPU-2", "GPU-3", "GPU-4"};
  if (index_of(device) >= 100) return copy(index_of(device) == 100 ? "MIG-a" : "MIG-b", out, size);
  const int result = answer(device);
  return result != 0 ? result : copy(names[index_of(device)], out, size);
}
int nvmlDeviceGetName(void* device, char* out, unsigned size) {
  if (index_of(device) >= 100) return copy("NVIDIA H100 80GB HBM3 MIG 3g.40gb", out, size);
  const bool h100 = index_of(device) == 0 || index_of(device) == 4;
  return copy(h100 ? "NVIDIA H100 80GB HBM3" : "NVIDIA GeForce RTX 5090", out, size);
}
int nvmlDeviceGetPciInfo_v3(void* device, void* out) {
  struct Info {
    char legacy[16];
    unsigned words[5];
    char id[32];
  };
  std::snprintf(static_cast<Info*>(out)->id, 32, "00000000:%02lX:00.0", 0x10 + index_of(device));
  return answer(device);
}
int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  *current = *pending = index_of(device) == 4;
  return index_of(device) == 1 ? 3 : answer(device);
}
int nvmlDeviceGetMaxMigDeviceCount(void*, unsigned* count) {
  *count = 7;
  return 0;
}
int nvmlDeviceGetMigDeviceHandleByIndex(void*, unsigned index, void** device) {
  if (index != 0 && index != 2) return 6;  // not found
  *device = reinterpret_cast<void*>(101L + static_cast<long>(index));
  return 0;
}
int nvmlDeviceGetGpuInstanceId(void* device, unsigned* id) {
  *id = index_of(device) == 100 ? 1 : 2;
  return 0;
}
int nvmlDeviceGetComputeInstanceId(void*, unsigned* id) {
  *id = 0;
  return 0;
}
int nvmlDeviceGetPcieThroughput(void* device, int counter, unsigned* kilobytes) {
  *kilobytes = counter == 0 ? 1500 : 2500;
  return answer(device);
}
int nvmlGpmQueryDeviceSupport(void* device, unsigned* versioned) {
  if (versioned[0] != 1) return 25;
  versioned[1] = index_of(device) == 0;
  return 0;
}
int nvmlGpmSampleAlloc(void** sample) {
  *sample = new int(0);
  return 0;
}
int nvmlGpmSampleFree(void* sample) {
  delete static_cast<int*>(sample);
  return 0;
}
int nvmlGpmSampleGet(void*, void* sample) {
  *static_cast<int*>(sample) = ++gpm_samples;
  return 0;
}
int nvmlGpmMetricsGet(void* request) {
  struct Metric {
    unsigned id;
    int result;
    double value;
    const char* names[3];
  };
  struct Request {
    unsigned version, count;
    int *older, *newer;
    Metric metrics[1];
  };
  auto* asked = static_cast<Request*>(request);
  if (asked->version != 1 || *asked->newer <= *asked->older) return 2;
  for (unsigned i = 0; i < asked->count; ++i) {
    Metric& metric = (&asked->metrics[0])[i];
    metric.result = metric.id == 13 ? 3 : 0;
    metric.value = metric.id;
  }
  return 0;
}
int nvmlDeviceGetTemperature(void* device, int, unsigned* value) {
  *value = 41;
  return answer(device);
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* value) {
  *value = 69850;
  return answer(device);
}
int nvmlDeviceGetMemoryInfo_v2(void* device, void* out) {
  auto* words = static_cast<unsigned long long*>(out);
  if (static_cast<unsigned*>(out)[0] != (2u << 24 | 40u)) return 25;  // version mismatch
  words[1] = 1000ULL << 20;
  words[2] = 79ULL << 20;
  words[3] = 900ULL << 20;
  words[4] = 21ULL << 20;
  return answer(device);
}
int nvmlDeviceGetTotalEccErrors(void* device, int type, int, unsigned long long* value) {
  *value = type == 0 ? 5 : 1;
  return index_of(device) == 0 ? 0 : 3;
}
int nvmlDeviceGetNvLinkState(void* device, unsigned link, int* active) {
  *active = link != 1;
  return index_of(device) == 0 && link < 3 ? 0 : 3;
}
int nvmlDeviceGetFieldValues(void* device, int n, void* values) {
  struct Value {
    unsigned id, scope;
    long long timestamp, latency;
    int type, result;
    unsigned long long number;
  };
  auto* fields = static_cast<Value*>(values);
  for (int i = 0; i < n; ++i) {
    fields[i].result = 3;
    if (fields[i].id == 82 && index_of(device) == 0)
      fields[i].type = 1, fields[i].number = 48, fields[i].result = 0;
    if (fields[i].id == 269)
      fields[i].type = 3, fields[i].number = 2000000000, fields[i].result = 0;
    if (fields[i].id == 270) fields[i].type = 3, fields[i].number = 500000000, fields[i].result = 0;
  }
  return answer(device);
}

}  // extern "C"
