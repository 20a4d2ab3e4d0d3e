# SPDX-License-Identifier: Apache-2.0

# tvc_add_model(TARGET name MODEL file [TARGETS target...] [DIMS name=1..8...] [SHAPES name=1x3x224x224...]
#               [OPTIONS option...])
# Compiles a model while building. NAME becomes a library to link, which brings the runtime and the macro
# <NAME in capitals>_ARTIFACT: the artifact's path, as a string. The target's property TVC_ARTIFACT has it too.
function(tvc_add_model)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;MODEL" "TARGETS;DIMS;SHAPES;OPTIONS")
  if(NOT arg_TARGET OR NOT arg_MODEL)
    message(FATAL_ERROR "tvc_add_model needs TARGET and MODEL")
  endif()
  get_filename_component(model "${arg_MODEL}" ABSOLUTE)
  set(artifact "${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}.tvc")
  set(options ${arg_OPTIONS})
  if(arg_TARGETS)
    list(JOIN arg_TARGETS "," targets)
    list(APPEND options --target "${targets}")
  endif()
  foreach(dim IN LISTS arg_DIMS)
    list(APPEND options --dim "${dim}")
  endforeach()
  foreach(shape IN LISTS arg_SHAPES)
    list(APPEND options --shape "${shape}")
  endforeach()
  add_custom_command(OUTPUT "${artifact}" DEPENDS "${model}" tvc::tvc VERBATIM
    COMMAND tvc::tvc compile "${model}" -o "${artifact}" ${options}
    COMMENT "Compiling the model ${arg_MODEL}")
  add_custom_target(${arg_TARGET}_artifact DEPENDS "${artifact}")
  add_library(${arg_TARGET} INTERFACE)
  add_dependencies(${arg_TARGET} ${arg_TARGET}_artifact)
  string(MAKE_C_IDENTIFIER "${arg_TARGET}" macro)
  string(TOUPPER "${macro}" macro)
  target_compile_definitions(${arg_TARGET} INTERFACE ${macro}_ARTIFACT="${artifact}")
  target_link_libraries(${arg_TARGET} INTERFACE tvc::tvrt)
  set_target_properties(${arg_TARGET} PROPERTIES TVC_ARTIFACT "${artifact}")
endfunction()
