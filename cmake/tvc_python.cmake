# SPDX-License-Identifier: Apache-2.0
# Lays the Python module out in the build tree: python/tvrt with links to its sources and to the shared runtime.
file(GLOB_RECURSE python_files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/bindings/py"
     "${PROJECT_SOURCE_DIR}/bindings/py/tvrt/*.py")
foreach(file IN LISTS python_files)
  get_filename_component(folder "${PROJECT_BINARY_DIR}/python/${file}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/bindings/py/${file}" "${PROJECT_BINARY_DIR}/python/${file}" SYMBOLIC)
endforeach()
if(TARGET tvrt)
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/python/tvrt")
  set(python_library "${PROJECT_BINARY_DIR}/python/tvrt/libtvrt.so")
  add_custom_command(OUTPUT "${python_library}" VERBATIM
    COMMAND "${CMAKE_COMMAND}" -E create_symlink "$<TARGET_FILE:tvrt>" "${python_library}")
  add_custom_target(tvrt_python ALL DEPENDS "${python_library}" tvrt)
endif()
