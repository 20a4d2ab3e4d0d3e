# SPDX-License-Identifier: Apache-2.0
"""Small graphs in which operators meet in ways that single-operator cases do not, against ONNX Runtime."""
import os
import subprocess

import numpy as np
import onnx
import onnxruntime
import pytest
import tvrt
from onnx import TensorProto, helper, numpy_helper


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs.split(), output.split(), **attributes)


def random(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


ONE = np.float32(1)
GRAPHS = {
    "times one in a chain": ([node("Mul", "one x", "t"), node("Mul", "t z", "q"), node("Relu", "q", "y")],
                             {"z": random(5, 16), "x": random(5, 16, seed=2)}, {"one": ONE}),
    "a constant condition in a chain": ([node("Where", "c x h", "t"), node("Relu", "t", "y")], {"x": random(5, 16)},
                                        {"c": np.array(True), "h": np.float32(0.5)}),
    "times one after a convolution": ([node("Conv", "x w", "c"), node("Mul", "one c", "t"), node("Add", "t r", "s"),
                                       node("Relu", "s", "y")],
                                      {"x": random(1, 16, 5, 5), "r": random(1, 16, 5, 5, seed=2)},
                                      {"w": random(16, 16, 1, 1), "one": ONE}),
    "spatial attention": ([node("Conv", "x w", "c", pads=[3] * 4), node("Sigmoid", "c", "s"), node("Mul", "x s", "y")],
                          {"x": random(1, 64, 8, 8)}, {"w": random(1, 64, 7, 7) / 50}),
    "one channel added to many": ([node("Conv", "x w", "c"), node("Add", "x c", "y")], {"x": random(1, 64, 8, 8)},
                                  {"w": random(1, 64, 1, 1) / 8}),
    "none of the largest": ([node("TopK", "x k", "y i")], {"x": random(3, 9), "k": np.array([0])}, {}),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("target", ["avx2", "host"])
def test_matches_onnxruntime(name, target, tmp_path):
    nodes, inputs, constants = GRAPHS[name]
    described = [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
                 for k, v in inputs.items()]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "g", described, [y], [numpy_helper.from_array(np.asarray(v), k)
                                                           for k, v in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.save(model, tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(model.SerializeToString())
    want = session.run(["y"], inputs)[0]
    subprocess.run([os.environ["TVC"], "compile", tmp_path / "m.onnx", "-o", tmp_path / "m.tvc", "--target", target], check=True,
                   capture_output=True)
    got = tvrt.load(str(tmp_path / "m.tvc"), threads=2).run(inputs)["y"]
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
