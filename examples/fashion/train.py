#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Train a small RepVGG on Fashion-MNIST with numpy only and write it as a multi-branch ONNX model.

usage: train.py DATA_DIR OUT.onnx [EPOCHS]     about 3 minutes on one core at 4 epochs (90.85 % on the 10k test set)

DATA_DIR holds the four *-ubyte.gz files; see README.md.

Each block sums a 3x3 convolution, a 1x1 convolution and (where shapes allow) the identity, each with its own
BatchNormalization: the training-time form that re-parameterisation folds into one convolution. Activations are NHWC here,
NCHW in the ONNX file. A retrained file differs in its last bits with the BLAS in use; model.onnx beside this script is
the one that the figures were measured on.
"""

import gzip
import sys
import time
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MEAN, STD = 0.2860, 0.3530
BLOCKS = [(1, 16, 2), (16, 32, 2), (32, 32, 1), (32, 64, 2), (64, 64, 1)]  # channels in, channels out, stride
CLASSES, EPSILON, MOMENTUM, DECAY, PEAK_RATE, BATCH = 10, 1e-5, 0.9, 5e-4, 0.1, 128


def read_images(path):
    return np.frombuffer(gzip.open(path).read(), "u1", offset=16).reshape(-1, 28, 28, 1)


def read_labels(path):
    return np.frombuffer(gzip.open(path).read(), "u1", offset=8).astype("i8")


def normalise(images):
    return (images.astype("f4") / 255 - MEAN) / STD


def im2col(x, stride):
    """3x3 patches with padding 1: [n * ho * wo, 9 * c]."""
    n, h, w, c = x.shape
    padded = np.zeros((n, h + 2, w + 2, c), "f4")
    padded[:, 1:-1, 1:-1] = x
    ho, wo = (h - 1) // stride + 1, (w - 1) // stride + 1
    out = np.empty((n, ho, wo, 9, c), "f4")
    for k in range(9):
        i, j = divmod(k, 3)
        out[:, :, :, k] = padded[:, i : i + stride * ho : stride, j : j + stride * wo : stride]
    return out.reshape(n * ho * wo, 9 * c), ho, wo


def col2im(grad, shape, stride, ho, wo):
    n, h, w, c = shape
    grad = grad.reshape(n, ho, wo, 9, c)
    padded = np.zeros((n, h + 2, w + 2, c), "f4")
    for k in range(9):
        i, j = divmod(k, 3)
        padded[:, i : i + stride * ho : stride, j : j + stride * wo : stride] += grad[:, :, :, k]
    return padded[:, 1:-1, 1:-1]


class Network:
    def __init__(self, rng):
        self.params = p = {}
        for i, (a, b, stride) in enumerate(BLOCKS):
            p[f"b{i}.w3"] = rng.normal(0, (2 / (9 * a)) ** 0.5, (9 * a, b)).astype("f4")
            p[f"b{i}.w1"] = rng.normal(0, (2 / a) ** 0.5, (a, b)).astype("f4")
            for n in ("n3", "n1") + (("n0",) if a == b and stride == 1 else ()):
                p[f"b{i}.{n}.g"] = np.ones(b, "f4")
                p[f"b{i}.{n}.b"] = np.zeros(b, "f4")
        p["fc.w"] = rng.normal(0, 0.1, (BLOCKS[-1][1], CLASSES)).astype("f4")
        p["fc.b"] = np.zeros(CLASSES, "f4")
        self.running = {k[:-2]: [np.zeros_like(v), np.ones_like(v)] for k, v in p.items() if k.endswith(".g")}

    def batch_norm(self, x, key, training):
        if training:
            mean, var = x.mean(0), x.var(0)
            run = self.running[key]
            run[0] = 0.9 * run[0] + 0.1 * mean
            run[1] = 0.9 * run[1] + 0.1 * var * len(x) / (len(x) - 1)
        else:
            mean, var = self.running[key]
        inverse = 1 / np.sqrt(var + EPSILON)
        xhat = (x - mean) * inverse
        return xhat * self.params[key + ".g"] + self.params[key + ".b"], (xhat, inverse)

    def batch_norm_grad(self, d, key, cache, grads):
        xhat, inverse = cache
        grads[key + ".g"] = (d * xhat).sum(0)
        grads[key + ".b"] = d.sum(0)
        return self.params[key + ".g"] * inverse * (d - d.mean(0) - xhat * (d * xhat).mean(0))

    def forward(self, x, training):
        caches, p = [], self.params
        for i, (a, b, stride) in enumerate(BLOCKS):
            columns, ho, wo = im2col(x, stride)
            picked = np.ascontiguousarray(x[:, ::stride, ::stride]).reshape(-1, a)
            y3, c3 = self.batch_norm(columns @ p[f"b{i}.w3"], f"b{i}.n3", training)
            y1, c1 = self.batch_norm(picked @ p[f"b{i}.w1"], f"b{i}.n1", training)
            y, c0 = y3 + y1, None
            if f"b{i}.n0.g" in p:
                y0, c0 = self.batch_norm(x.reshape(-1, a), f"b{i}.n0", training)
                y = y + y0
            caches.append((x.shape, columns, picked, c3, c1, c0, ho, wo, y > 0))
            x = np.maximum(y, 0).reshape(x.shape[0], ho, wo, b)
        pooled = x.mean((1, 2))
        return pooled @ p["fc.w"] + p["fc.b"], (caches, pooled, x.shape)

    def backward(self, d, cache):
        caches, pooled, shape = cache
        p, grads = self.params, {"fc.w": pooled.T @ d, "fc.b": d.sum(0)}
        d = np.broadcast_to((d @ p["fc.w"].T)[:, None, None] / (shape[1] * shape[2]), shape)
        for i in range(len(BLOCKS) - 1, -1, -1):
            a, b, stride = BLOCKS[i]
            in_shape, columns, picked, c3, c1, c0, ho, wo, active = caches[i]
            d = d.reshape(-1, b) * active
            d3 = self.batch_norm_grad(d, f"b{i}.n3", c3, grads)
            d1 = self.batch_norm_grad(d, f"b{i}.n1", c1, grads)
            grads[f"b{i}.w3"] = columns.T @ d3
            grads[f"b{i}.w1"] = picked.T @ d1
            if i == 0:
                break
            dx = col2im(d3 @ p[f"b{i}.w3"].T, in_shape, stride, ho, wo)
            dx[:, ::stride, ::stride] += (d1 @ p[f"b{i}.w1"].T).reshape(in_shape[0], ho, wo, a)
            if c0:
                dx = dx + self.batch_norm_grad(d, f"b{i}.n0", c0, grads).reshape(in_shape)
            d = dx
        return grads

    def accuracy(self, images, labels):
        hits = [
            (self.forward(normalise(images[i : i + 500]), False)[0].argmax(1) == labels[i : i + 500]).mean()
            for i in range(0, len(images), 500)
        ]
        return np.mean(hits)


def train(net, rng, data, epochs):
    """SGD with momentum, a cosine rate with a short warm-up, horizontal flips."""
    images, labels, test_images, test_labels = data
    momentum = {k: np.zeros_like(v) for k, v in net.params.items()}
    steps = len(images) // BATCH
    total, step, start = epochs * steps, 0, time.time()
    for epoch in range(epochs):
        order, loss = rng.permutation(len(images)), 0
        for i in range(steps):
            index = order[i * BATCH : (i + 1) * BATCH]
            x = normalise(images[index])
            flip = rng.random(BATCH) < 0.5
            x[flip] = x[flip][:, :, ::-1]
            logits, cache = net.forward(x, True)
            prob = np.exp(logits - logits.max(1, keepdims=True))
            prob /= prob.sum(1, keepdims=True)
            loss += -np.log(prob[np.arange(BATCH), labels[index]] + 1e-9).mean()
            prob[np.arange(BATCH), labels[index]] -= 1
            grads = net.backward((prob / BATCH).astype("f4"), cache)
            rate = PEAK_RATE * 0.5 * (1 + np.cos(np.pi * step / total)) * min(1, step / 100 + 0.01)
            step += 1
            for k in net.params:
                decay = DECAY * net.params[k] if ".w" in k else 0
                momentum[k] = MOMENTUM * momentum[k] + grads[k] + decay
                net.params[k] = (net.params[k] - rate * momentum[k]).astype("f4")
        accuracy = net.accuracy(test_images, test_labels)
        print(
            f"epoch {epoch} loss {loss / steps:.4f} test {accuracy:.4f} {time.time() - start:.0f} s",
            flush=True,
        )


class Exporter:
    def __init__(self, net):
        self.net, self.nodes, self.inits = net, [], []

    def const(self, name, array):
        self.inits.append(numpy_helper.from_array(np.ascontiguousarray(array.astype("f4")), name))
        return name

    def node(self, op, inputs, out, name=None, **attrs):
        self.nodes.append(helper.make_node(op, inputs, [out], name=name or out, **attrs))
        return out

    def batch_norm(self, x, key, out):
        p, (mean, var) = self.net.params, self.net.running[key]
        parts = (
            (".weight", p[key + ".g"]),
            (".bias", p[key + ".b"]),
            (".running_mean", mean),
            (".running_var", var),
        )
        return self.node(
            "BatchNormalization", [x] + [self.const(key + s, a) for s, a in parts], out, epsilon=EPSILON
        )

    def block(self, x, i):
        (a, b, stride), q, p = BLOCKS[i], f"b{i}", self.net.params
        w3 = self.const(q + ".conv3.weight", p[q + ".w3"].reshape(3, 3, a, b).transpose(3, 2, 0, 1))
        self.node("Conv", [x, w3], q + "_c3", kernel_shape=[3, 3], strides=[stride, stride], pads=[1] * 4)
        w1 = self.const(q + ".conv1.weight", p[q + ".w1"].T.reshape(b, a, 1, 1))
        self.node("Conv", [x, w1], q + "_c1", kernel_shape=[1, 1], strides=[stride, stride])
        branches = [
            self.batch_norm(q + "_c3", q + ".n3", q + "_n3"),
            self.batch_norm(q + "_c1", q + ".n1", q + "_n1"),
        ]
        y = self.node("Add", branches, q + "_add")
        if q + ".n0" in self.net.running:
            y = self.node("Add", [y, self.batch_norm(x, q + ".n0", q + "_n0")], q + "_add2")
        return self.node("Relu", [y], q + "_out", name=q + "_relu")

    def save(self, path):
        x, p = "image", self.net.params
        for i in range(len(BLOCKS)):
            x = self.block(x, i)
        self.node("GlobalAveragePool", [x], "gap")
        self.node("Flatten", ["gap"], "flat")
        fc = [self.const("fc.weight", p["fc.w"].T), self.const("fc.bias", p["fc.b"])]
        self.node("Gemm", ["flat"] + fc, "logits", name="fc", transB=1)
        graph = helper.make_graph(
            self.nodes,
            "fmnist_repvgg",
            [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 28, 28])],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", CLASSES])],
            self.inits,
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="train.py"
        )
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)


def main():
    folder, target = Path(sys.argv[1]), sys.argv[2]
    epochs = int(sys.argv[3]) if len(sys.argv) > 3 else 4
    data = [
        read(folder / f"{part}-{kind}-ubyte.gz")
        for part in ("train", "t10k")
        for read, kind in ((read_images, "images-idx3"), (read_labels, "labels-idx1"))
    ]
    rng = np.random.default_rng(0)
    net = Network(rng)
    train(net, rng, data, epochs)
    Exporter(net).save(target)


if __name__ == "__main__":
    main()
