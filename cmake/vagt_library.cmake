# vagt_library(<folder> SOURCES … HEADERS … [PUBLIC lib…] [PRIVATE lib…])
#
# One static library per folder, named vagt_<folder>. Headers go into a FILE_SET so that
# all_verify_interface_header_sets compiles each of them alone. Third-party libraries belong in PRIVATE.
function(vagt_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;PUBLIC;PRIVATE" ${ARGN})
  string(REPLACE "-" "_" id ${name})
  set(target vagt_${id})
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR} FILES ${arg_HEADERS})
    target_link_libraries(${target} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE} $<BUILD_INTERFACE:vagt_warnings>)
    vagt_precompile(${target})
  else()
    add_library(${target} INTERFACE)
    target_sources(${target} INTERFACE FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR} FILES ${arg_HEADERS})
    target_link_libraries(${target} INTERFACE ${arg_PUBLIC})
  endif()
  set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
endfunction()

# vagt_program(<binary> <main.cpp> lib…): an executable in bin/.
function(vagt_program name main)
  add_executable(${name} ${main})
  target_link_libraries(${name} PRIVATE ${ARGN} vagt_warnings)
endfunction()

function(vagt_precompile target)
  if(VAGT_PCH)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -fpch-preprocess)  # ccache needs it to see through the header
    endif()
    target_precompile_headers(
      ${target} PRIVATE <algorithm> <chrono> <cmath> <cstdint> <functional> <map> <memory> <optional> <span>
      <string> <string_view> <unordered_map> <utility> <variant> <vector> <fmt/core.h>)
  endif()
endfunction()

# vagt_test(<name> SOURCES … LINK … [LABELS slow] [DATA]): one binary per folder, cases found by ctest.
function(vagt_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} vagt_test_support GTest::gmock_main vagt_warnings)
  vagt_precompile(${name})
  if(VAGT_PCH)
    target_precompile_headers(${name} PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  set(properties TIMEOUT ${arg_TIMEOUT})
  if(arg_LABELS)
    list(APPEND properties LABELS "${arg_LABELS}")
  endif()
  gtest_discover_tests(${name} PROPERTIES ${properties} DISCOVERY_TIMEOUT 60)
endfunction()
