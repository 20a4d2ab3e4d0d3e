# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` lays out, so that find_package(tvc) gives tvc::tvrt (shared), tvc::tvrt_static, the tool
# tvc::tvc, and tvc_add_model().
include(CMakePackageConfigHelpers)

set(installed)
foreach(target tvrt tvrt_static tvc)
  if(TARGET ${target})
    list(APPEND installed ${target})
  endif()
endforeach()
if(NOT installed)
  return()
endif()

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/tvc")
install(TARGETS ${installed} EXPORT tvcTargets
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tvrt")
install(EXPORT tvcTargets NAMESPACE tvc:: DESTINATION "${package_folder}")
# <tvrt.h> includes abi.h beside it, as emitted source does, which users of --emit static and --emit source build.
install(FILES "${PROJECT_SOURCE_DIR}/lib/runtime/tvrt.h" "${PROJECT_SOURCE_DIR}/lib/runtime/abi.h"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tvrt")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/tvcConfig.cmake.in" "${PROJECT_BINARY_DIR}/tvcConfig.cmake"
  INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tvcConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tvcConfig.cmake" "${PROJECT_BINARY_DIR}/tvcConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/tvc_add_model.cmake"
  DESTINATION "${package_folder}")
