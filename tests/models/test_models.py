# SPDX-License-Identifier: Apache-2.0
"""Real models, compiled for the host, against ONNX Runtime.

$TVC_MODELS names the folder with them: manifest.json, whose list "onnx" says of each model its path, inputs and example
shapes. Without it only the model of examples/fashion runs, in tests/examples.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

TOLERANCE = 1e-4  # of the output's range
INT8_TOLERANCE = 2e-2  # where the model itself is quantised, runtimes round to different sides
ROOT = Path(os.environ["TVC_MODELS"]) if "TVC_MODELS" in os.environ else None
ENTRIES = json.loads((ROOT / "manifest.json").read_text())["onnx"] if ROOT else []
RUN = """
import pickle, sys, tvrt
model = tvrt.load(sys.argv[1], threads=2)
sys.stdout.buffer.write(pickle.dumps([model.run(feeds) for feeds in pickle.load(sys.stdin.buffer)]))
"""


def feeds_for(entry, rng, batch):
    feeds = {}
    for value in entry["inputs"]:
        name, dtype = value["name"], np.dtype(value["dtype"])
        shape = list(entry["example_shapes"][name])
        if batch is not None:
            shape[0] = batch
        if name in entry.get("example_values", {}):
            feeds[name] = np.asarray(entry["example_values"][name], dtype).reshape(shape)
        elif dtype.kind in "iu":
            feeds[name] = rng.integers(*value.get("range") or [0, 2], shape).astype(dtype)
        else:
            feeds[name] = rng.random(shape).astype(dtype)
    return feeds


def takes_batches(entry):
    """Image models with a free first dimension: one artifact must serve other batches too."""
    free = all(value["shape"] and not (isinstance(value["shape"][0], int) and value["shape"][0] > 0) for value in entry["inputs"])
    return free and "cnn" in entry["tags"] and "loop" not in entry["tags"]


def reference(path, all_feeds):
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return [dict(zip(names, session.run(names, feeds))) for feeds in all_feeds]


def error(got, want):
    """The largest difference as a share of the range, infinite where shape or type differ."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return np.inf
    if want.dtype.kind != "f":
        return 0.0 if (got == want).all() else np.inf
    if want.size == 0:
        return 0.0
    if np.isnan(got).any() != np.isnan(want).any():
        return np.inf
    got, want = got.astype("f8"), want.astype("f8")
    return float(np.abs(got - want).max() / max(want.max() - want.min(), np.abs(want).max(), 1e-9))


@pytest.mark.parametrize("entry", [pytest.param(e, id=e["name"]) for e in ENTRIES])
def test_model(entry, tmp_path):
    import pickle

    model, artifact = ROOT / entry["path"], tmp_path / "model.tvc"
    if not model.exists():
        pytest.skip("not fetched")
    compiled = subprocess.run([os.environ["TVC"], "compile", model, "-o", artifact], capture_output=True, text=True, timeout=900)
    assert compiled.returncode == 0, compiled.stderr[-2000:]

    rng = np.random.default_rng(0)
    all_feeds = [feeds_for(entry, rng, None)]
    if takes_batches(entry):
        all_feeds.append(feeds_for(entry, rng, 3))
    run = subprocess.run([sys.executable, "-c", RUN, artifact], input=pickle.dumps(all_feeds), capture_output=True, timeout=600)
    assert run.returncode == 0, run.stderr.decode(errors="replace")[-2000:]

    limit = INT8_TOLERANCE if "int8" in entry["tags"] else TOLERANCE
    for got, want in zip(pickle.loads(run.stdout), reference(model, all_feeds)):
        assert got.keys() == want.keys()
        errors = {name: error(got[name], want[name]) for name in want}
        assert max(errors.values()) <= limit, errors
