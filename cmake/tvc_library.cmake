# SPDX-License-Identifier: Apache-2.0
# One target per folder.

# tvc_library(NAME [RECURSE] [DEPS folder...] [PACKAGES target...])
# Makes tvc_NAME from this folder's *.cpp (RECURSE: and its subfolders'). DEPS names other tvc libraries without their
# prefix, as the table in scripts/check_includes allows them; PACKAGES are third-party targets.
function(tvc_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "RECURSE" "" "DEPS;PACKAGES")
  if(arg_RECURSE)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  else()
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  endif()
  list(TRANSFORM arg_DEPS PREPEND tvc_)
  if(sources)
    add_library(tvc_${name} STATIC ${sources})
    set(scope PUBLIC)
  else()  # a folder of headers only
    add_library(tvc_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(tvc_${name} ${scope} "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/lib")
  target_include_directories(tvc_${name} SYSTEM ${scope} "${PROJECT_BINARY_DIR}/generated")  # not ours to lint
  target_link_libraries(tvc_${name} ${scope} ${arg_DEPS} ${arg_PACKAGES})
  set_property(GLOBAL APPEND PROPERTY TVC_LIBRARIES tvc_${name})
endfunction()

# Sources made by a command, added to a library that may have had none of its own.
function(tvc_generated_sources name)
  get_target_property(type tvc_${name} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    add_library(tvc_${name}_generated STATIC ${ARGN})
    target_include_directories(tvc_${name}_generated PRIVATE "${PROJECT_SOURCE_DIR}/lib")
    target_link_libraries(tvc_${name} INTERFACE tvc_${name}_generated)
  else()
    target_sources(tvc_${name} PRIVATE ${ARGN})
  endif()
endfunction()

# Adds a folder if it has a CMakeLists.txt, and configures again when one appears.
function(tvc_optional_subdirectory folder)
  file(GLOB found CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt")
  if(found)
    add_subdirectory("${folder}")
  endif()
endfunction()
