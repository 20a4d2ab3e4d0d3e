#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Accuracy, latency and size of the compiled model, beside ONNX Runtime where that is installed.

usage: compare.py ARTIFACT [--threads N] [--json FILE]     needs tvrt on PYTHONPATH
"""

import argparse
import gc
import json
import time
from pathlib import Path

import numpy as np
import tvrt

HERE = Path(__file__).resolve().parent
BLOCKS, RUNS, WARM = 5, 200, 20


def open_tvrt(path, threads):
    model = tvrt.load(str(path), threads=threads)
    return lambda images: model.run({"image": images})["logits"]


def open_onnxruntime(path, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda images: session.run(["logits"], {"image": images})[0]


def accuracy(opener, images, labels):
    logits = opener()(images)
    return logits, float((logits.argmax(1) == labels).mean())


def latencies(openers, image):
    """Milliseconds of single runs, in blocks that take turns; one runtime is alive at a time, since idle threads spin."""
    times = {name: [] for name in openers}
    for _ in range(BLOCKS):
        for name, opener in openers.items():
            run = opener()
            for _ in range(WARM):
                run(image)
            for _ in range(RUNS):
                start = time.perf_counter()
                run(image)
                times[name].append((time.perf_counter() - start) * 1e3)
            del run
            gc.collect()
    return times


def peer_installed():
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("artifact", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()

    images, labels = np.load(HERE / "images.npy"), np.load(HERE / "labels.npy")
    openers = {"compiled": lambda: open_tvrt(args.artifact, args.threads)}
    if peer_installed():
        openers["ONNX Runtime"] = lambda: open_onnxruntime(HERE / "model.onnx", args.threads)

    outputs, rows = {}, {}
    for name, opener in openers.items():
        outputs[name], top1 = accuracy(opener, images, labels)
        rows[name] = {"top1": top1}
    for name, times in latencies(openers, images[:1]).items():
        rows[name] |= {"p50_ms": float(np.percentile(times, 50)), "p99_ms": float(np.percentile(times, 99))}

    print(f"{'':14}{'top-1 of ' + str(len(labels)):>16}{'P50 ms':>10}{'P99 ms':>10}")
    for name, row in rows.items():
        print(f"{name:14}{row['top1']:>15.1%} {row['p50_ms']:>9.4f} {row['p99_ms']:>9.4f}")
    result = {"threads": args.threads, "rows": rows}
    if len(outputs) == 2:
        ours, peers = outputs["compiled"], outputs["ONNX Runtime"]
        result["max_error"] = float(np.abs(ours - peers).max() / (peers.max() - peers.min()))
        print(f"largest difference: {result['max_error']:.1e} of the outputs' range")
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
