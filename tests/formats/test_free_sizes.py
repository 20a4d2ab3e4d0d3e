# SPDX-License-Identifier: Apache-2.0
"""Operators whose sizes only the run knows, one artifact at two sets of sizes, against ONNX Runtime."""

import numpy as np
import pytest
from test_onnx_opsets import compiled, graph, reference

F32 = np.float32


def noise(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(F32)


# Opset, node, inputs, two sets of feeds.
CASES = {
    "resize_scales": (
        19,
        'y = Resize <mode="linear"> (x, , s)',
        "float[a,b,c,d] x, float[4] s",
        [{"x": noise(1, 2, 5, 7), "s": np.array([1, 1, 0.6, 1.7], F32)}, {"x": noise(2, 1, 4, 3), "s": np.array([1, 1, 2, 2], F32)}],
    ),
    "resize_sizes_not_larger": (
        19,
        'y = Resize <axes=[2,3], mode="linear", keep_aspect_ratio_policy="not_larger"> (x, , , s)',
        "float[a,b,c,d] x, int64[2] s",
        [{"x": noise(1, 2, 5, 7), "s": np.array([8, 8])}, {"x": noise(1, 1, 6, 3), "s": np.array([3, 3])}],
    ),
    "resize_antialias": (
        19,
        'y = Resize <axes=[2,3], mode="linear", antialias=1> (x, , , s)',
        "float[a,b,c,d] x, int64[2] s",
        [{"x": noise(1, 1, 9, 12), "s": np.array([3, 6])}, {"x": noise(1, 1, 4, 4), "s": np.array([8, 2])}],
    ),
    "resize_crop": (
        19,
        'y = Resize <mode="linear", coordinate_transformation_mode="tf_crop_and_resize"> (x, r, , s)',
        "float[a,b,c,d] x, float[8] r, int64[4] s",
        [
            {"x": noise(1, 1, 5, 7), "r": np.array([0, 0, 0.1, 0.3, 1, 1, 0.7, 0.9], F32), "s": np.array([1, 1, 3, 4])},
            {"x": noise(1, 2, 4, 4), "r": np.array([0, 0, 0.5, 0, 1, 1, 0.7, 1.2], F32), "s": np.array([1, 2, 1, 5])},
        ],
    ),
    "range": (
        11,
        "y = Range (a, b, c)",
        "float a, float b, float c",
        [{"a": F32(1.5), "b": F32(9), "c": F32(0.7)}, {"a": F32(1), "b": F32(0), "c": F32(0.5)}],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_free_sizes(name, tmp_path):
    opset, node, inputs, all_feeds = CASES[name]
    model = graph(opset, node, inputs)
    model.ir_version = 9
    for k, feeds in enumerate(all_feeds):
        feeds = {name: np.asarray(value) for name, value in feeds.items()}
        got, want = compiled(model, feeds, tmp_path)["y"], reference(model, feeds)["y"]
        assert got.shape == want.shape, k
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5, err_msg=str(k))
