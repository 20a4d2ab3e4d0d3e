# SPDX-License-Identifier: Apache-2.0
"""Operators of com.microsoft, imported, compiled and run, against ONNX Runtime."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from test_onnx_opsets import compiled, reference


def model_of(op, inputs, constants, feeds, outputs, **attributes):
    """One node; `inputs` in order ('': omitted), whose sizes are free where no constant gives them."""
    declared = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), [f"{name}{k}" if s in (3, 5) else s for k, s in enumerate(a.shape)])
        for name, a in feeds.items()
    ]
    graph = helper.make_graph(
        [helper.make_node(op, inputs, outputs, domain="com.microsoft", **attributes)],
        "g",
        declared,
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(a, name) for name, a in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("per_column", [False, True])
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_dynamic_quantize_lstm(signed, per_column, direction, tmp_path):
    rng = np.random.default_rng(1)
    directions, steps, batch, inputs, hidden = (2 if direction == "bidirectional" else 1), 5, 3, 24, 16
    scale_shape = (directions, 4 * hidden) if per_column else (directions,)
    constants = {}
    for name, rows, zero in (("w", inputs, 128), ("r", hidden, 120)):
        low, dtype = (-128, np.int8) if signed else (0, np.uint8)
        constants[name] = rng.integers(low, low + 256, (directions, rows, 4 * hidden)).astype(dtype)
        constants[name + "s"] = (rng.random(scale_shape) * 0.01).astype(np.float32)
        constants[name + "z"] = np.full(scale_shape, 0 if signed else zero, dtype)
    constants["b"] = rng.standard_normal((directions, 8 * hidden)).astype(np.float32)
    feeds = {
        "x": rng.standard_normal((steps, batch, inputs)).astype(np.float32),
        "h": rng.standard_normal((directions, batch, hidden)).astype(np.float32),
        "c": rng.standard_normal((directions, batch, hidden)).astype(np.float32),
    }
    operands = ["x", "w", "r", "b", "", "h", "c", "", "ws", "wz", "rs", "rz"]
    model = model_of("DynamicQuantizeLSTM", operands, constants, feeds, ["y", "yh", "yc"], hidden_size=hidden, direction=direction)
    got, want = compiled(model, feeds, tmp_path), reference(model, feeds)
    for name in want:
        np.testing.assert_allclose(got[name], want[name], atol=2e-6)
