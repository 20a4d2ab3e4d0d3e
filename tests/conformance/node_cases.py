# SPDX-License-Identifier: Apache-2.0
"""ONNX's backend node cases: written to disk once, then compiled, run and compared one by one.

Each case runs in processes of its own, so that a crash fails that case and no other.
"""

import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

TIMEOUT = 120  # seconds, for a compile and for a run
RUN = """
import pickle, sys, tvrt
model = tvrt.load(sys.argv[1], threads=1)
results = [model.run(feeds) for feeds in pickle.load(sys.stdin.buffer)]
sys.stdout.buffer.write(pickle.dumps(results))
"""


def dump(root):
    """Writes the cases in the layout that ONNX itself uses, unless root has them already."""
    if root.exists():
        return
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = collect_testcases(None)
    root.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=root.name, dir=root.parent))
    for case in cases:
        folder = partial / case.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.onnx").write_bytes(case.model.SerializeToString())
        (folder / "tolerance.json").write_text(json.dumps({"rtol": case.rtol, "atol": case.atol}))
        for i, (inputs, outputs) in enumerate(case.data_sets):
            data = folder / f"test_data_set_{i}"
            data.mkdir(exist_ok=True)
            for kind, values, infos in (
                ("input", inputs, case.model.graph.input),
                ("output", outputs, case.model.graph.output),
            ):
                for j, (value, info) in enumerate(zip(values, infos)):
                    (data / f"{kind}_{j}.pb").write_bytes(serialise(value, info))
    try:
        partial.rename(root)
    except OSError:  # another run was quicker
        shutil.rmtree(partial)


def serialise(value, info):
    kind = info.type.WhichOneof("value")
    if isinstance(value, onnx.TensorProto):
        return value.SerializeToString()
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name).SerializeToString()
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name).SerializeToString()
    return numpy_helper.from_array(value, info.name).SerializeToString()


def load(path, info):
    data, kind = path.read_bytes(), info.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind == "optional_type":
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


def close(got, want, rtol, atol):
    if isinstance(want, list):
        return (
            isinstance(got, (list, tuple))
            and len(got) == len(want)
            and all(close(g, w, rtol, atol) for g, w in zip(got, want))
        )
    if want is None or got is None:
        return got is want
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return False
    if want.dtype.kind in "OSU":
        return bool((got.astype(str) == want.astype(str)).all())
    if got.dtype != want.dtype:
        return False
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    return bool(np.allclose(got.astype(wide), want.astype(wide), rtol, atol, equal_nan=True))


class Refused(Exception):
    """The compiler said that the model holds something unsupported."""


class Differs(Exception):
    """It runs, and the result is not ONNX's."""


class Failed(Exception):
    """Anything else than right results."""


def check(folder, target="host"):
    """Compiles and runs one case; raises Refused or Failed."""
    with tempfile.TemporaryDirectory() as scratch:
        artifact = Path(scratch) / "case.tvc"
        command = [os.environ["TVC"], "compile", folder / "model.onnx", "-o", artifact, "--target", target]
        compiled = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
        said = compiled.stderr.strip()[-500:]
        if compiled.returncode == 3:
            raise Refused(said)
        if compiled.returncode != 0:
            raise Failed(f"compile: exit code {compiled.returncode}: {said}")
        compare(folder, artifact)


def compare(folder, artifact):
    graph = onnx.load(folder / "model.onnx").graph
    tolerance = json.loads((folder / "tolerance.json").read_text())
    sets = sorted(folder.glob("test_data_set_*"))
    feeds = [
        {
            info.name: load(data / f"input_{j}.pb", info)
            for j, info in enumerate(graph.input)
            if (data / f"input_{j}.pb").exists()  # a missing one means: use the initialiser of that name
        }
        for data in sets
    ]
    command = [sys.executable, "-c", RUN, artifact]
    run = subprocess.run(command, input=pickle.dumps(feeds), capture_output=True, timeout=TIMEOUT)
    if run.returncode != 0:
        raise Failed(f"run: exit code {run.returncode}: {run.stderr.decode(errors='replace').strip()[-500:]}")
    for data, results in zip(sets, pickle.loads(run.stdout)):
        for j, info in enumerate(graph.output):
            want = load(data / f"output_{j}.pb", info)
            if not close(results[info.name], want, tolerance["rtol"], tolerance["atol"]):
                raise Differs(f"{data.name}, {info.name}: got {results[info.name]}\nwant {want}")


def read_refusals(path):
    """Lines `pattern   reason`; the pattern matches the whole name of a case."""
    refusals = []
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, reason = line.split(None, 1)
            refusals.append((re.compile(pattern), reason.strip()))
    return refusals
