// Feeds saved inputs to a fuzz target, for builds that have no fuzzer: `replay DIRECTORY`.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  int inputs = 0;
  for (int i = 1; i < argc; ++i)
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string whole((std::istreambuf_iterator<char>(file)), {});
      // Cut at every byte, too: half a file is the likeliest bad input.
      for (size_t size = 0; size <= whole.size(); ++size)
        LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(whole.data()), size);
      ++inputs;
    }
  std::printf("%d inputs, each cut at every byte\n", inputs);
  return inputs > 0 ? 0 : 1;
}
