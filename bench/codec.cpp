// The chunk codec on exposition text with timestamps (the load generator's dump): bytes per sample
// and speed, by codec.
//
//   bench_codec FILE [samples per chunk] [small]
#include <time.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unordered_map>

#include "tsdb/codec.h"

namespace {

using namespace vagt::tsdb;

// CPU of this thread: other work on the machine does not count.
std::chrono::duration<double> cpu_now() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::duration<double>(static_cast<double>(t.tv_sec) +
                                       static_cast<double>(t.tv_nsec) / 1e9);
}

// `series value timestamp` lines; enough of the format for the load generator's dumps.
std::unordered_map<std::string, RawColumns> load(const char* path) {
  std::unordered_map<std::string, RawColumns> all;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t second = line.rfind(' ');
    const size_t first = line.rfind(' ', second - 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    double value = 0;
    int64_t t = 0;
    std::from_chars(line.data() + first + 1, line.data() + second, value);
    std::from_chars(line.data() + second + 1, line.data() + line.size(), t);
    all[line.substr(0, first)].push(t, value);
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_codec FILE [samples per chunk] [small]\n");
    return 2;
  }
  const size_t per_chunk = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 5760;
  const auto effort = argc > 3 && std::string(argv[3]) == "small" ? Effort::Small : Effort::Quick;
  const auto all = load(argv[1]);
  constexpr std::array<const char*, 7> kNames = {"constant", "run-length", "decimal", "xor",
                                                 "raw",      "entropy",    "binary"};
  std::array<size_t, 7> bytes{}, samples{}, chunks{};
  std::chrono::duration<double> encoding{}, decoding{};
  for (const auto& [name, columns] : all) {
    for (size_t i = 0; i < columns.size(); i += per_chunk) {
      const size_t n = std::min(per_chunk, columns.size() - i);
      std::string chunk;
      auto begin = cpu_now();
      encode_chunk({columns.t.data() + i, n}, {columns.v.data() + i, n}, chunk, effort);
      encoding += cpu_now() - begin;
      RawColumns back;
      back.t.reserve(n);
      back.v.reserve(n);
      begin = cpu_now();
      if (!decode_chunk(chunk, back)) return 1;
      decoding += cpu_now() - begin;
      const auto codec = static_cast<size_t>(value_codec_of(chunk));
      bytes[codec] += chunk.size();
      samples[codec] += n;
      ++chunks[codec];
    }
  }
  size_t all_bytes = 0, all_samples = 0;
  for (size_t i = 0; i < kNames.size(); ++i) {
    all_bytes += bytes[i];
    all_samples += samples[i];
    std::printf("%-10s %8zu chunks %10zu samples %7.3f B/sample\n", kNames[i], chunks[i],
                samples[i], samples[i] > 0 ? double(bytes[i]) / double(samples[i]) : 0);
  }
  std::printf(
      "all        %.3f B/sample, encode %.1f ns/sample (%.2f GB/s), decode %.1f ns/sample "
      "(%.2f GB/s)\n",
      double(all_bytes) / double(all_samples), encoding.count() * 1e9 / double(all_samples),
      double(all_samples) * 16 / encoding.count() / 1e9,
      decoding.count() * 1e9 / double(all_samples),
      double(all_samples) * 16 / decoding.count() / 1e9);
  return 0;
}
