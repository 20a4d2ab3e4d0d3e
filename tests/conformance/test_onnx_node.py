# SPDX-License-Identifier: Apache-2.0
"""ONNX's backend node cases through the whole compiler, for the host: a seeded sample, all of them with TVC_LONG=1.

A case that is refused must stand in refused.txt, with the reason, and must be refused if it stands there, so that the
list stays true. A case that gives another result must stand in differs.txt. TVC_NODE_CASES=N changes the size of the sample.
"""

import os
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import onnx
import pytest

import node_cases

LONG = os.environ.get("TVC_LONG") == "1"
SAMPLE = int(os.environ.get("TVC_NODE_CASES", "150"))
CACHE = Path(os.environ.get("TVC_CACHE", Path.home() / ".cache/tvc")) / f"node-cases-{onnx.__version__}"
DIFFERENCES = node_cases.read_refusals(Path(__file__).with_name("differs.txt"))
REFUSALS = node_cases.read_refusals(Path(__file__).with_name("refused.txt"))


def chosen():
    node_cases.dump(CACHE)
    names = sorted(p.name for p in CACHE.iterdir() if p.is_dir())
    return names if LONG or SAMPLE >= len(names) else sorted(random.Random(0).sample(names, SAMPLE))


@pytest.fixture(scope="session")
def results():
    """Starts all cases, as many at a time as there are processors; each test then waits for its own."""
    pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))
    yield {name: pool.submit(node_cases.check, CACHE / name) for name in chosen()}
    pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("name", chosen())
def test_case(name, results):
    reasons = [reason for pattern, reason in REFUSALS if pattern.fullmatch(name)]
    try:
        results[name].result()
    except node_cases.Refused as refusal:
        assert reasons, f"refused, and refused.txt does not say so: {refusal}"
        pytest.skip(reasons[0])
    except node_cases.Differs:
        differs = [reason for pattern, reason in DIFFERENCES if pattern.fullmatch(name)]
        if not differs:
            raise
        pytest.skip(differs[0])
    assert not reasons, "passes, so its line in refused.txt must go"
