# SPDX-License-Identifier: Apache-2.0
"""--emit static: two models linked into one C program, without dlopen, give what the artifacts give."""

import os
import subprocess
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

import tvrt

BUILD = Path(os.environ["TVC"]).parents[2]
SOURCE = Path(os.environ["TVC_SOURCE_DIR"])
MAIN = """
#include <stdio.h>
#include "one.h"
#include "two.h"

static int show(tvrt_model* model) {
  tvrt_context* context;
  float x[6] = {1, -2, 3, -4, 5, -6};
  tvrt_value value = {0};
  const tvrt_value* y;
  value.dtype = TVRT_F32; value.rank = 2; value.dims[0] = 2; value.dims[1] = 3; value.data = x; value.bytes = sizeof x;
  if (tvrt_context_create(model, NULL, &context) || tvrt_context_set_input(context, 0, &value) || tvrt_context_run(context)) return 1;
  if (tvrt_context_output(context, 0, &y)) return 1;
  for (int i = 0; i < 6; ++i) printf("%.9g\\n", ((const float*)y->data)[i]);
  tvrt_context_destroy(context);
  tvrt_model_close(model);
  return 0;
}

int main(void) {
  tvrt_model *one, *two;
  return one_open(&one) || two_open(&two) || show(one) || show(two);
}
"""


def write_model(path, op):
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", 3]) for n in "xy")
    nodes = [helper.make_node("Sigmoid", ["x"], ["s"]), helper.make_node(op, ["x", "s"], ["y"])]
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", [x], [y]), opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def test_two_models_in_one_program(tmp_path):
    want = []
    for name, op in (("one", "Mul"), ("two", "Add")):
        write_model(tmp_path / f"{name}.onnx", op)
        compile_model = [os.environ["TVC"], "compile", tmp_path / f"{name}.onnx", "-o"]
        subprocess.run([*compile_model, tmp_path / f"{name}.o", "--emit", "static"], check=True)
        subprocess.run([*compile_model, tmp_path / f"{name}.tvc"], check=True)
        x = np.array([[1, -2, 3], [-4, 5, -6]], np.float32)
        want += tvrt.load(tmp_path / f"{name}.tvc").run({"x": x})["y"].ravel().tolist()
    (tmp_path / "main.c").write_text(MAIN)
    libraries = [BUILD / "lib/runtime/libtvrt_static.a", "-lpthread", "-ldl", "-lm"]
    subprocess.run(["cc", "-I", SOURCE / "lib/runtime", "main.c", "one.o", "two.o", *libraries, "-o", "program"], cwd=tmp_path, check=True)
    got = subprocess.run([tmp_path / "program"], check=True, capture_output=True, text=True).stdout.split()
    assert [np.float32(v) for v in got] == [np.float32(v) for v in want]
    assert sorted(p.name for p in tmp_path.glob("one*")) == ["one.h", "one.o", "one.onnx", "one.tvc"]
