# SPDX-License-Identifier: Apache-2.0
"""The Python module over compiled models: types, shapes, ownership, errors."""

import os
import subprocess
import threading

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper

import tvrt


def compile_model(folder, nodes, inputs, outputs, initializers=(), options=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    path, artifact = folder / "model.onnx", folder / "model.tvc"
    onnx.save(model, path)
    subprocess.run([os.environ["TVC"], "compile", path, "-o", artifact, *options], check=True)
    return artifact


def tensor(name, dtype, shape):
    return helper.make_tensor_value_info(name, dtype, shape)


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    """y = a + b, b[3] being 1 by default, a[rows, 3]."""
    return compile_model(
        tmp_path_factory.mktemp("add"),
        [helper.make_node("Add", ["a", "b"], ["y"])],
        [tensor("a", T.FLOAT, ["rows", 3]), tensor("b", T.FLOAT, [3])],
        [tensor("y", T.FLOAT, ["rows", 3])],
        [helper.make_tensor("b", T.FLOAT, [3], [1, 1, 1])],
    )


@pytest.fixture
def model(artifact):
    with tvrt.load(artifact, threads=1) as opened:
        yield opened


def test_signature(model):
    assert model.inputs == [("a", ["rows", 3], np.float32), ("b", [3], np.float32)]
    assert model.outputs == [("y", ["rows", 3], np.float32)]
    assert model.threads == 1
    assert model.target


@pytest.mark.parametrize("rows", [0, 1, 5, 1000])
def test_rows_defaults_and_layouts(model, rows):
    a = np.arange(3 * rows, dtype="f4").reshape(rows, 3)
    np.testing.assert_array_equal(model.run({"a": a})["y"], a + 1)
    np.testing.assert_array_equal(model.run({"a": np.asfortranarray(a), "b": [1.0, 2.0, 3.0]})["y"], a + [1, 2, 3])
    np.testing.assert_array_equal(model.run({"a": a[::-1]})["y"], a[::-1] + 1)


def test_results_belong_to_the_caller(model):
    first = model.run({"a": np.zeros((2, 3), "f4")})["y"]
    model.run({"a": np.full((2, 3), 7, "f4")})
    assert (first == 1).all()


@pytest.mark.parametrize(
    ("feeds", "message"),
    [
        ({}, "input 'a' is not set"),
        ({"a": np.zeros((2, 4), "f4")}, r"input 'a' takes f32\[rows, 3\], got f32\[2, 4\]"),
        ({"a": np.zeros((2, 3), "f8")}, r"got f64\[2, 3\]"),
        ({"a": np.zeros((2, 3), "f4"), "c": 1}, "no input 'c'"),
        ({"a": None}, "input 'a' may not be None"),
        ({"a": np.zeros((2, 3), ">f4")}, "not supported"),
    ],
)
def test_what_does_not_fit(model, feeds, message):
    with pytest.raises((tvrt.Error, TypeError, ValueError), match=message):
        model.run(feeds)
    assert (model.run({"a": np.zeros((1, 3), "f4")})["y"] == 1).all()


def test_no_artifact(tmp_path):
    with pytest.raises(tvrt.Error, match="nothing.tvc"):
        tvrt.load(tmp_path / "nothing.tvc")
    (tmp_path / "x.tvc").write_bytes(b"something else")
    with pytest.raises(tvrt.Error, match="not an artifact"):
        tvrt.load(tmp_path / "x.tvc")


def test_sizes_ahead(artifact):
    model = tvrt.load(artifact, threads=1, dims={"rows": 100})
    assert (model.run({"a": np.zeros((100, 3), "f4")})["y"] == 1).all()
    with pytest.raises(tvrt.Error, match="no free dimension"):
        tvrt.load(artifact, dims={"columns": 1})


def test_metrics_and_threads(artifact):
    model = tvrt.load(artifact, threads=2)
    a = np.ones((50, 3), "f4")
    workers = [threading.Thread(target=lambda: [model.run({"a": a}) for _ in range(20)]) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    metrics = model.metrics()
    assert metrics["runs"] == 80
    assert 0 < metrics["p50_ns"] <= metrics["p95_ns"] <= metrics["p99_ns"]


@pytest.mark.parametrize(
    "dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "int4", "uint4", "float4_e2m1fn"]
)
def test_types_that_numpy_lacks(tmp_path, dtype):
    number = {v: k for k, v in tvrt._values.NAMES.items()}[dtype]
    there = compile_model(
        tmp_path, [helper.make_node("Cast", ["x"], ["y"], to=number)], [tensor("x", T.FLOAT, [5])], [tensor("y", number, [5])]
    )
    x = np.array([0, 1, -2, 3, 2], "f4") if dtype not in ("uint4",) else np.array([0, 1, 15, 3, 8], "f4")
    y = tvrt.load(there).run({"x": x})["y"]
    assert y.dtype == np.dtype(getattr(ml_dtypes, dtype))
    np.testing.assert_array_equal(y.astype("f4"), x)
    (tmp_path / "back").mkdir()
    back = compile_model(
        tmp_path / "back", [helper.make_node("Cast", ["x"], ["y"], to=T.FLOAT)], [tensor("x", number, [5])], [tensor("y", T.FLOAT, [5])]
    )
    np.testing.assert_array_equal(tvrt.load(back).run({"x": y})["y"], x)


@pytest.mark.parametrize("count", range(9))
@pytest.mark.parametrize("dtype", ["int4", "uint4", "int2", "uint2", "float4_e2m1fn"])
def test_packing(count, dtype):
    number = {v: k for k, v in tvrt._values.NAMES.items()}[dtype]
    array = (np.arange(count) % 5 - (2 if dtype.startswith("int") else 0)).astype("f4").astype(getattr(ml_dtypes, dtype))
    bits = tvrt._values.SUB_BYTE[number]
    packed = tvrt._values.pack(array, bits)
    assert len(packed) == -(-count * bits // 8)
    np.testing.assert_array_equal(tvrt._values.unpack(packed, count, number).astype("f4"), array.astype("f4"))


def test_sizes_that_only_a_run_knows(tmp_path):
    nodes = [helper.make_node("NonZero", ["x"], ["y"])]
    artifact = compile_model(tmp_path, nodes, [tensor("x", T.FLOAT, ["n"])], [tensor("y", T.INT64, [1, None])])
    with tvrt.load(artifact, threads=1) as model:
        for x in ([1, 0, 2, 3], [0, 0, 0, 1], [1, 1, 1, 1], [0, 0, 0, 0]):  # more, fewer, none: of one input size
            np.testing.assert_array_equal(model.run({"x": np.array(x, "f4")})["y"], np.array(np.nonzero(x)))


@pytest.mark.parametrize("text", [["a b", "", "Zürich"], []])
def test_strings_through_branches(tmp_path, text):
    """Upper case or twice, as the flag says; the branches give text of different lengths."""
    then = helper.make_graph([helper.make_node("StringConcat", ["s", "s"], ["t"])], "then", [], [tensor("t", T.STRING, None)])
    upper = helper.make_node("StringNormalizer", ["s"], ["u"], case_change_action="UPPER")
    other = helper.make_graph([upper], "else", [], [tensor("u", T.STRING, None)])
    nodes = [helper.make_node("If", ["flag"], ["y"], then_branch=then, else_branch=other)]
    inputs = [tensor("s", T.STRING, ["n"]), tensor("flag", T.BOOL, [])]
    with tvrt.load(compile_model(tmp_path, nodes, inputs, [tensor("y", T.STRING, [None])]), threads=1) as model:
        given = np.array(text, object)
        assert list(model.run({"s": given, "flag": np.array(True)})["y"]) == [2 * t for t in text]
        assert list(model.run({"s": given, "flag": np.array(False)})["y"]) == ([t.upper() for t in text] or [""])
