# SPDX-License-Identifier: Apache-2.0
# Compiles through ccache where it is installed. The base directory makes paths relative, so that several checkouts of
# the same source share their hits.
find_program(TVC_CCACHE ccache)
if(TVC_CCACHE AND PROJECT_IS_TOP_LEVEL)
  foreach(language C CXX)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER
          "${CMAKE_COMMAND};-E;env;CCACHE_BASEDIR=${PROJECT_SOURCE_DIR};CCACHE_NOHASHDIR=1;${TVC_CCACHE}")
    endif()
  endforeach()
endif()
