# SPDX-License-Identifier: Apache-2.0
"""The example model: as accurate compiled as before, at any batch size."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

FASHION = Path(__file__).resolve().parents[2] / "examples/fashion"


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    path = tmp_path_factory.mktemp("fashion") / "fashion.tvc"
    subprocess.run([os.environ["TVC"], "compile", FASHION / "model.onnx", "-o", path], check=True)
    return path


@pytest.fixture(scope="module")
def model(artifact):
    import tvrt

    return tvrt.load(str(artifact), threads=2)


def test_signature(model):
    assert [(name, tuple(shape)[1:], np.dtype(dtype)) for name, shape, dtype in model.inputs] == [
        ("image", (1, 28, 28), np.dtype("f4"))
    ]
    assert [(name, tuple(shape)[1:], np.dtype(dtype)) for name, shape, dtype in model.outputs] == [
        ("logits", (10,), np.dtype("f4"))
    ]


def test_accuracy(model):
    images, labels = np.load(FASHION / "images.npy"), np.load(FASHION / "labels.npy")
    logits = model.run({"image": images})["logits"]
    assert (logits.argmax(1) == labels).sum() == 924


@pytest.mark.parametrize("batch", [1, 2, 7, 16, 33])
def test_a_batch_gives_what_single_images_give(model, batch):
    images = np.load(FASHION / "images.npy")[:batch]
    together = model.run({"image": images})["logits"]
    single = np.concatenate([model.run({"image": images[i : i + 1]})["logits"] for i in range(batch)])
    np.testing.assert_allclose(together, single, rtol=1e-5, atol=1e-5)


def test_the_same_bytes_from_a_second_compile(artifact, tmp_path):
    again = tmp_path / "again.tvc"
    command = [os.environ["TVC"], "compile", FASHION / "model.onnx", "-o", again, "--no-cache", "--jobs", "1"]
    subprocess.run(command, check=True)
    assert again.read_bytes() == artifact.read_bytes()
