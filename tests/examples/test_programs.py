# SPDX-License-Identifier: Apache-2.0
"""The C and C++ programs, built against an installed tvc as a user would."""

import os
import subprocess
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["TVC"]).parents[2]


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    path = tmp_path_factory.mktemp("prefix")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", path], check=True, capture_output=True)
    return path


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Exp", ["x"], ["y"])], "g", value[:1], value[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]), folder / "model.onnx")
    subprocess.run([os.environ["TVC"], "compile", folder / "model.onnx", "-o", folder / "model.tvc"], check=True)
    return folder / "model.tvc"


def build(name, prefix, folder):
    configure = ["cmake", "-S", ROOT / "examples" / name, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}"]
    subprocess.run(configure, check=True, capture_output=True)
    subprocess.run(["cmake", "--build", folder], check=True, capture_output=True)
    return folder


def test_c(prefix, artifact, tmp_path):
    program = build("c", prefix, tmp_path) / "run_model"
    assert subprocess.run([program, artifact, "2"], check=True, capture_output=True, text=True).stdout == "y [1, 3] 1 1 1\n"
    missing = subprocess.run([program, "nothing.tvc"], capture_output=True, text=True)
    assert missing.returncode == 1
    assert "cannot open nothing.tvc" in missing.stderr


def test_cpp(prefix, artifact, tmp_path):
    program = build("cpp", prefix, tmp_path) / "time_model"
    assert "20 runs on" in subprocess.run([program, artifact, "20"], check=True, capture_output=True, text=True).stdout
