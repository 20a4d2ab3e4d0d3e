# SPDX-License-Identifier: Apache-2.0
"""Operators in the forms of older opsets, imported, compiled and run, against ONNX Runtime or a formula."""

import os
import pickle
import subprocess
import sys

import numpy as np
import onnx.parser
import pytest

RUN = """
import pickle, sys, tvrt
model = tvrt.load(sys.argv[1], threads=1)
sys.stdout.buffer.write(pickle.dumps(model.run(pickle.load(sys.stdin.buffer))))
"""
X = "float[2,3,4] x"


def graph(opset, nodes, inputs=X, outputs="float[n] y", initializers=""):
    model = onnx.parser.parse_model(
        f'<ir_version: 6, opset_import: ["" : {opset}]> g ({inputs}) => ({outputs}) <{initializers}> {{ {nodes} }}'
    )
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    return model


def feeds_for(model, seed=0):
    rng = np.random.default_rng(seed)
    feeds = {}
    for value in model.graph.input:
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        feeds[value.name] = rng.integers(0, 3, shape).astype(dtype) if dtype.kind in "iu" else rng.standard_normal(shape).astype(dtype)
    return feeds


def compiled(model, feeds, folder):
    source, artifact = folder / "model.onnx", folder / "model.tvc"
    source.write_bytes(model.SerializeToString())
    said = subprocess.run([os.environ["TVC"], "compile", source, "-o", artifact], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    run = subprocess.run([sys.executable, "-c", RUN, artifact], input=pickle.dumps(feeds), capture_output=True)
    assert run.returncode == 0, run.stderr.decode()
    return pickle.loads(run.stdout)


def reference(model, feeds):
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # what a recurrent operator quantises at once depends on it
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds)))


IMAGE = "float[1,2,4,6] x"
CASES = {
    **{
        f"{op.lower()} {opset} axis {axis}": graph(opset, f"y = {op} <axis = {axis}> (x)")
        for op, opset, axis in [
            ("Softmax", 7, 0),
            ("Softmax", 9, 1),
            ("Softmax", 11, -2),
            ("Softmax", 12, 2),
            ("LogSoftmax", 11, 1),
            ("Hardmax", 9, 1),
        ]
    },
    "softmax 11 default axis": graph(11, "y = Softmax(x)"),
    "squeeze 11": graph(11, "y = Squeeze <axes = [0, 2]> (x)", "float[1,3,1,4] x"),
    "squeeze 7 all": graph(7, "y = Squeeze(x)", "float[1,3,1,4] x"),
    "unsqueeze 11": graph(11, "y = Unsqueeze <axes = [0, -1]> (x)"),
    "reduce sum 11": graph(11, "y = ReduceSum <axes = [-1], keepdims = 0> (x)"),
    "reduce max 12": graph(12, "y = ReduceMax <axes = [1]> (x)"),
    "reduce log sum exp 13": graph(13, "y = ReduceLogSumExp <axes = [0, 2], keepdims = 0> (x)"),
    "reduce mean 17 all": graph(17, "y = ReduceMean(x)"),
    "clip 7": graph(7, "y = Clip <min = -0.5, max = 0.25> (x)"),
    "clip 10 one side": graph(10, "y = Clip <max = 0.25> (x)"),
    "slice 9": graph(9, "y = Slice <starts = [1, -3], ends = [3, 9223372036854775807], axes = [1, 2]> (x)"),
    "pad 2 constant": graph(7, "y = Pad <pads = [0, 1, 0, 0, 0, 2], value = 1.5> (x)"),
    "pad 2 negative": graph(10, "y = Pad <pads = [0, -1, 0, 0, 0, 2]> (x)"),
    "pad 2 reflect": graph(9, 'y = Pad <mode = "reflect", pads = [0, 1, 0, 0, 0, 2]> (x)'),
    "pad 2 edge": graph(9, 'y = Pad <mode = "edge", pads = [1, 0, 0, 0, 0, 2]> (x)'),
    "split 7": graph(7, "y, z = Split <axis = 2, split = [1, 3]> (x)", outputs="float[n] y, float[n] z"),
    "split 12 equal": graph(12, "y, z = Split <axis = 2> (x)", outputs="float[n] y, float[n] z"),
    "split 13 equal": graph(13, "y, z = Split <axis = 2> (x)", outputs="float[n] y, float[n] z"),
    "topk 9": graph(9, "y, z = TopK <axis = 1, k = 2> (x)", outputs="float[n] y, int64[n] z"),
    "dropout 7": graph(7, "y = Dropout <ratio = 0.9> (x)"),
    "upsample 7 nearest": graph(7, 'y = Upsample <mode = "nearest", scales = [1.0, 1.0, 2.0, 3.0]> (x)', IMAGE),
    "upsample 9 linear": graph(9, 'y = Upsample <mode = "linear"> (x, s)', IMAGE, initializers="float[4] s = {1, 1, 2, 2}"),
    "resize 10 enlarge": graph(10, "y = Resize(x, s)", IMAGE, initializers="float[4] s = {1, 1, 1.5, 2}"),
    "resize 10 shrink": graph(10, "y = Resize(x, s)", IMAGE, initializers="float[4] s = {1, 1, 0.6, 0.5}"),
    "resize 10 linear": graph(10, 'y = Resize <mode = "linear"> (x, s)', IMAGE, initializers="float[4] s = {1, 1, 2, 1.5}"),
    "batch normalization 9": graph(
        9,
        "y = BatchNormalization <epsilon = 0.01> (x, s, b, m, v)",
        "float[2,3,4] x",
        initializers="float[3] s = {1, 2, 3}, float[3] b = {0, 1, 2}, float[3] m = {0.5, 0, 1}, float[3] v = {1, 2, 0.5}",
    ),
    "scatter 9": graph(
        9, "y = Scatter <axis = 1> (x, i, u)", "float[2,3,4] x, float[2,1,4] u", initializers="int64[2,1,4] i = {0,1,2,0,1,2,0,1}"
    ),
    "roialign 10": graph(
        10,
        'y = RoiAlign <output_height = 2, output_width = 2, sampling_ratio = 2, spatial_scale = 0.5> (x, r, b)',
        "float[1,2,8,8] x",
        initializers="float[1,4] r = {1, 2, 9, 11}, int64[1] b = {0}",
    ),
    "gridsample 16": graph(16, 'y = GridSample <mode = "bilinear"> (x, g)', "float[1,2,4,4] x, float[1,3,3,2] g"),
    "gemm 7": graph(7, "y = Gemm <alpha = 0.5, transB = 1> (x, w, b)", "float[2,3] x, float[4,3] w, float[4] b"),
    "inside a branch": graph(
        11,
        """y = If (c) <
          then_branch = yes () => (float[n] p) { p = Softmax <axis = 1> (x) },
          else_branch = no () => (float[n] q) { r = ReduceMax <axes = [2], keepdims = 0> (x) q = Unsqueeze <axes = [2]> (r) }
        >""",
        "bool c, float[2,3,4] x",
    ),
}
MISSING = "need operators that are not supported", "needs operators that are not supported"


@pytest.mark.parametrize("name", CASES)
def test_like_onnx_runtime(name, tmp_path):
    model = CASES[name]
    feeds = feeds_for(model)
    want = reference(model, feeds)
    try:
        got = compiled(model, feeds, tmp_path)
    except AssertionError as error:
        if any(text in str(error) for text in MISSING):
            pytest.skip("an operator is not supported yet")
        raise
    for key, value in want.items():
        assert got[key].shape == value.shape and got[key].dtype == value.dtype
        np.testing.assert_allclose(got[key], value, rtol=1e-4, atol=1e-5)


def test_resize_10_in_both_directions(tmp_path):
    """Opset 10 takes the element below where it enlarges, the one above where it shrinks."""
    model = graph(10, "y = Resize(x, s)", "float[1,1,4,4] x", initializers="float[4] s = {1, 1, 0.6, 1.5}")
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    rows = np.ceil(np.arange(2) / 0.6).astype(int)
    columns = np.floor(np.arange(6) / 1.5).astype(int)
    np.testing.assert_array_equal(compiled(model, {"x": x}, tmp_path)["y"], x[:, :, rows][..., columns])


def test_group_normalization_18(tmp_path):
    model = graph(
        18,
        "y = GroupNormalization <num_groups = 2, epsilon = 0.01> (x, s, b)",
        "float[2,4,3] x",
        initializers="float[2] s = {2, 3}, float[2] b = {1, -1}",
    )
    x = feeds_for(model)["x"]
    grouped = x.reshape(2, 2, 6)
    normal = (grouped - grouped.mean(2, keepdims=True)) / np.sqrt(grouped.var(2, keepdims=True) + 0.01)
    want = normal * np.array([2, 3], np.float32)[:, None] + np.array([1, -1], np.float32)[:, None]
    np.testing.assert_allclose(compiled(model, {"x": x}, tmp_path)["y"], want.reshape(x.shape), rtol=1e-4, atol=1e-5)


def test_batch_normalization_of_each_element(tmp_path):
    model = graph(
        7, "y = BatchNormalization <spatial = 0> (x, s, b, m, v)", "float[2,3] x, float[3] s, float[3] b, float[3] m, float[3] v"
    )
    feeds = feeds_for(model)
    feeds["v"] = np.abs(feeds["v"]) + 0.1
    want = (feeds["x"] - feeds["m"]) / np.sqrt(feeds["v"] + 1e-5) * feeds["s"] + feeds["b"]
    np.testing.assert_allclose(compiled(model, feeds, tmp_path)["y"], want, rtol=1e-4, atol=1e-5)


def test_dropout_7_has_a_mask_of_the_input_type(tmp_path):
    model = graph(7, "y, m = Dropout(x)", outputs="float[n] y, float[n] m")
    feeds = feeds_for(model)
    got = compiled(model, feeds, tmp_path)
    np.testing.assert_array_equal(got["y"], feeds["x"])
    np.testing.assert_array_equal(got["m"], np.ones((2, 3, 4), np.float32))


@pytest.mark.parametrize("op, function", [("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Div", np.divide)])
def test_broadcast_at_an_axis_before_7(op, function, tmp_path):
    model = graph(6, f"y = {op} <broadcast = 1, axis = 1> (x, w)", "float[2,3,4,5] x, float[3,4] w")
    feeds = feeds_for(model)
    got = compiled(model, feeds, tmp_path)["y"]
    np.testing.assert_allclose(got, function(feeds["x"], feeds["w"][None, :, :, None]), rtol=1e-5)


def test_small_forms_before_7(tmp_path):
    model = graph(
        4,
        """a = Relu <consumed_inputs = [0]> (x)
        b = Reshape <shape = [3, 4]> (a)
        c = Cast <to = "INT32"> (b)
        d = Cast <to = "FLOAT"> (c)
        n = Neg <consumed_inputs = [0]> (d)
        y = PRelu(n, s)""",
        "float[2,6] x",
        initializers="float[4] s = {0.5, 0.25, 0.75, 1}",
    )
    x = np.arange(12, dtype=np.float32).reshape(2, 6) * 1.25
    want = -np.trunc(x.reshape(3, 4)) * np.array([0.5, 0.25, 0.75, 1], np.float32)
    np.testing.assert_allclose(compiled(model, {"x": x}, tmp_path)["y"], want, rtol=1e-6)
