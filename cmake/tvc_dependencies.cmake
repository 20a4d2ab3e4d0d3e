# SPDX-License-Identifier: Apache-2.0
# Every third-party library that the compiler links; docs/dependencies.md says what each is for. The runtime uses none.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(TBB REQUIRED)
find_package(Protobuf REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
find_package(FlatBuffers REQUIRED)
find_program(TVC_FLATC flatc REQUIRED)
pkg_check_modules(sodium REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)

# The distribution's onnx is too old (opset 17); scripts/setup builds the pinned release once, outside the build tree.
set(TVC_ONNX_VERSION 1.23.2)
find_package(ONNX CONFIG PATHS "${TVC_CACHE}/onnx-${TVC_ONNX_VERSION}" NO_DEFAULT_PATH)
if(NOT ONNX_FOUND)
  message(FATAL_ERROR "onnx ${TVC_ONNX_VERSION} is not in ${TVC_CACHE}: run scripts/setup")
endif()
