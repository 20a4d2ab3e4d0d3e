# SPDX-License-Identifier: Apache-2.0
"""Damaged models and artifacts: a clear refusal or a result, never a crash, a hang or a half-written file.

Seeded mutations (bit flips, cuts, repeated pieces) of three models and of their artifacts: 40 of each, 1,000 with TVC_LONG=1.
"""

import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

TVC = os.environ["TVC"]
SOURCE = Path(os.environ["TVC_SOURCE_DIR"])
COUNT = 1000 if os.environ.get("TVC_LONG") == "1" else 40
TIMEOUT = 60
OPEN_AND_RUN = """
import sys, numpy as np, tvrt
for path in sys.argv[1:]:
    try:
        model = tvrt.load(path, threads=1)
        feeds = {}
        for name, shape, dtype in model.inputs:
            shape = [d if isinstance(d, int) and 0 <= d < 64 else 1 for d in shape]
            feeds[name] = np.ones(shape, dtype if dtype in ("float32", "int64", "bool") else "float32")
        model.run(feeds)
    except (tvrt.Error, TypeError, ValueError, KeyError, AttributeError):
        pass
print("survived")
"""


def control_model():
    """If, Loop, Gather and Reshape with sizes of the run."""
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Add", ["h", "step"], ["h2"]), helper.make_node("Identity", ["c"], ["c2"])],
        "body", [value("i", TensorProto.INT64, []), value("c", TensorProto.BOOL, []), value("h", TensorProto.FLOAT, ["n", 4])],
        [value("c2", TensorProto.BOOL, []), value("h2", TensorProto.FLOAT, ["n", 4])])
    yes = helper.make_graph([helper.make_node("Relu", ["h3"], ["t"])], "yes", [], [value("t", TensorProto.FLOAT, None)])
    no = helper.make_graph([helper.make_node("Neg", ["h3"], ["e"])], "no", [], [value("e", TensorProto.FLOAT, None)])
    nodes = [
        helper.make_node("Loop", ["trips", "", "x"], ["h3"], body=body),
        helper.make_node("If", ["flag"], ["y0"], then_branch=yes, else_branch=no),
        helper.make_node("Shape", ["y0"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["rows"]),
        helper.make_node("Concat", ["rows", "rest"], ["shape"], axis=0),
        helper.make_node("Reshape", ["y0", "shape"], ["y"]),
    ]
    constants = [numpy_helper.from_array(np.array(a), n) for n, a in
                 (("trips", np.int64(3)), ("zero", np.array([0])), ("rest", np.array([2, -1])), ("step", np.ones(4, np.float32)))]
    return helper.make_graph(nodes, "control", [value("x", TensorProto.FLOAT, ["n", 4]), value("flag", TensorProto.BOOL, [])],
                             [value("y", TensorProto.FLOAT, None)], constants)


def sequence_model():
    """1-D convolution, norms, softmax, products."""
    rng = np.random.default_rng(0)
    value = helper.make_tensor_value_info
    weights = {"w": rng.random((8, 4, 3)), "g": rng.random(8), "b": rng.random(8), "m": rng.random((8, 8))}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1]),
        helper.make_node("Transpose", ["c"], ["t"], perm=[0, 2, 1]),
        helper.make_node("LayerNormalization", ["t", "g", "b"], ["l"]),
        helper.make_node("MatMul", ["l", "m"], ["p"]),
        helper.make_node("Softmax", ["p"], ["y"]),
    ]
    return helper.make_graph(nodes, "sequence", [value("x", TensorProto.FLOAT, ["n", 4, "t"])], [value("y", TensorProto.FLOAT, None)],
                             [numpy_helper.from_array(a.astype(np.float32), n) for n, a in weights.items()])


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    paths = {"fashion": SOURCE / "examples/fashion/model.onnx"}
    for graph in (control_model(), sequence_model()):
        paths[graph.name] = folder / f"{graph.name}.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), paths[graph.name])
    return paths


def mutated(data, seed):
    rng = random.Random(seed)
    data = bytearray(data)
    kind = rng.randrange(4)
    if kind == 0:
        return bytes(data[: rng.randrange(len(data))])
    if kind == 1:
        at, size = rng.randrange(len(data)), rng.randrange(1, 64)
        return bytes(data[:at] + data[at : at + size] * 2 + data[at + size :])
    # Structure stands at the ends of a model's file more than in its weights: flip there often.
    reach = len(data) if kind == 2 else min(len(data), 2048)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(reach)
        data[at if rng.random() < 0.5 else len(data) - 1 - at] ^= 1 << rng.randrange(8)
    return bytes(data)


def compile_mutation(data, seed, folder):
    case = folder / str(seed)
    case.mkdir()
    (case / "m.onnx").write_bytes(mutated(data, seed))
    run = subprocess.run([TVC, "compile", case / "m.onnx", "-o", case / "m.tvc"], capture_output=True, timeout=TIMEOUT)
    assert run.returncode in (0, 2, 3), f"seed {seed}: exit code {run.returncode}: {run.stderr[-300:]}"
    left = sorted(p.name for p in case.iterdir())
    assert left == (["m.onnx", "m.tvc"] if run.returncode == 0 else ["m.onnx"]), f"seed {seed}: {left}"
    assert run.returncode == 0 or run.stderr.strip(), f"seed {seed}: no message"


@pytest.mark.parametrize("name", ["fashion", "control", "sequence"])
def test_models(name, models, tmp_path):
    data = models[name].read_bytes()
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for done in [pool.submit(compile_mutation, data, seed, tmp_path) for seed in range(COUNT)]:
            done.result()


@pytest.mark.parametrize("name", ["fashion", "control", "sequence"])
def test_artifacts(name, models, tmp_path):
    subprocess.run([TVC, "compile", models[name], "-o", tmp_path / "whole.tvc"], check=True)
    data = (tmp_path / "whole.tvc").read_bytes()
    paths = []
    for seed in range(COUNT):
        paths.append(tmp_path / f"{seed}.tvc")
        paths[-1].write_bytes(mutated(data, seed))
    run = subprocess.run([sys.executable, "-c", OPEN_AND_RUN, *paths], capture_output=True, text=True, timeout=TIMEOUT + COUNT)
    assert run.returncode == 0 and run.stdout.strip() == "survived", f"exit code {run.returncode}: {run.stderr[-500:]}"


def refused(path, *words):
    run = subprocess.run([TVC, "compile", path, "-o", path.parent / "out.tvc"], capture_output=True, text=True, timeout=TIMEOUT)
    assert run.returncode in (2, 3), run.stderr
    assert not (path.parent / "out.tvc").exists()
    for word in words:
        assert word in run.stderr, run.stderr


def test_wrong_files(tmp_path):
    (tmp_path / "empty.onnx").write_bytes(b"")
    refused(tmp_path / "empty.onnx", "empty")
    (tmp_path / "text.onnx").write_text("hello " * 100)
    refused(tmp_path / "text.onnx")
    refused(tmp_path / "missing.onnx", "missing.onnx")


def external(tmp_path, location):
    w = helper.make_tensor("w", TensorProto.FLOAT, [4], np.zeros(4, np.float32).tobytes(), raw=True)
    w.ClearField("raw_data")
    w.data_location = TensorProto.EXTERNAL
    w.external_data.add(key="location", value=location)
    value = helper.make_tensor_value_info
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", [value("x", TensorProto.FLOAT, [4])], [value("y", TensorProto.FLOAT, [4])], [w])
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "m.onnx").write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString())
    return folder / "m.onnx"


@pytest.mark.parametrize("location", ["gone.bin", "../outside.bin", "/etc/hostname"])
def test_external_data(location, tmp_path):
    (tmp_path / "outside.bin").write_bytes(bytes(16))
    refused(external(tmp_path, location))


def test_cycle_and_overflow(tmp_path):
    value = helper.make_tensor_value_info
    nodes = [helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Neg", ["a"], ["b"])]
    graph = helper.make_graph(nodes, "g", [value("x", TensorProto.FLOAT, [4])], [value("b", TensorProto.FLOAT, [4])])
    (tmp_path / "cycle.onnx").write_bytes(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString())
    refused(tmp_path / "cycle.onnx")
    big = numpy_helper.from_array(np.array([1 << 40, 1 << 40]), "shape")
    graph = helper.make_graph([helper.make_node("Expand", ["x", "shape"], ["y"])], "g", [value("x", TensorProto.FLOAT, [1])], [value("y", TensorProto.FLOAT, None)], [big])
    path = tmp_path / "big.onnx"
    path.write_bytes(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString())
    run = subprocess.run([TVC, "compile", path, "-o", tmp_path / "big.tvc"], capture_output=True, timeout=TIMEOUT)
    assert run.returncode in (0, 2, 3)
    if run.returncode == 0:  # then running it must fail cleanly
        run = subprocess.run([TVC, "run", tmp_path / "big.tvc"], capture_output=True, timeout=TIMEOUT)
        assert run.returncode in (2, 4), run.stderr
