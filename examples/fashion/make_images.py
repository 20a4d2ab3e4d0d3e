#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the first images of the Fashion-MNIST test set, as the model wants them, and their labels.

usage: make_images.py DATA_DIR [COUNT]     images.npy: f32 [COUNT, 1, 28, 28], normalised; labels.npy: i64 [COUNT]
"""

import gzip
import sys
from pathlib import Path

import numpy as np

MEAN, STD = 0.2860, 0.3530  # as in train.py


def main():
    folder = Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    pixels = np.frombuffer(gzip.open(folder / "t10k-images-idx3-ubyte.gz").read(), "u1", offset=16)
    labels = np.frombuffer(gzip.open(folder / "t10k-labels-idx1-ubyte.gz").read(), "u1", offset=8)
    images = pixels.reshape(-1, 1, 28, 28)[:count].astype("f4")
    here = Path(__file__).parent
    np.save(here / "images.npy", ((images / 255 - MEAN) / STD).astype("f4"))
    np.save(here / "labels.npy", labels[:count].astype("i8"))


if __name__ == "__main__":
    main()
