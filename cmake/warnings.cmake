# One interface target carries the warning flags, so that third-party code is not held to them.
add_library(vagt_warnings INTERFACE)
target_compile_options(vagt_warnings INTERFACE -Wall -Wextra -Werror -Wshadow -Wconversion
                                               -Wno-sign-conversion -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(vagt_warnings INTERFACE -Wthread-safety)
else()
  # g++ 12 reports false positives of these inside libstdc++ when optimising (GCC bugs 105329, 105651).
  target_compile_options(vagt_warnings INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
  if(VAGT_SANITIZE)
    # The instrumentation hides initialisations inside std::variant from the analysis.
    target_compile_options(vagt_warnings INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
