# SPDX-License-Identifier: Apache-2.0
"""The checks of the source say no where they should."""

import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def check(rule, root):
    return subprocess.run([SCRIPTS / f"check_{rule}", root], capture_output=True, text=True)


def write(root, path, text):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


@pytest.mark.parametrize(
    "path, included",
    [
        ("lib/ir/graph.cpp", "ops/op_def.h"),
        ("lib/support/hash.cpp", "ir/ir.h"),
        ("passes/fold.cpp", "formats/onnx/import.h"),
        ("formats/gguf/read.cpp", "formats/onnx/import.h"),
        ("lib/codegen/emit.cpp", "passes/pass.h"),
        ("lib/codegen/emit.cpp", "runtime/tvrt.h"),
        ("lib/runtime/load.c", "support/result.h"),
        ("calibration/awq.cpp", "codegen/lower.h"),
    ],
)
def test_an_include_against_the_graph_is_named(tmp_path, path, included):
    write(tmp_path, path, f'#include <vector>\n#include "{included}"\n')
    result = check("includes", tmp_path)
    assert result.returncode == 1
    assert result.stdout == f'{path}: may not include "{included}"\n'


def test_allowed_includes_pass(tmp_path):
    write(tmp_path, "lib/codegen/emit.cpp", '#include "runtime/abi.h"\n#include "ops/op_def.h"\n#include "plan.h"\n')
    write(tmp_path, "lib/codegen/plan.h", "")
    write(tmp_path, "formats/onnx/import.cpp", '#include "formats/onnx/import.h"\n#include "ir/ir.h"\n')
    result = check("includes", tmp_path)
    assert (result.returncode, result.stdout) == (0, "includes: each folder keeps to its row\n")


def test_a_path_that_climbs_out_of_its_folder_is_named(tmp_path):
    write(tmp_path, "lib/ir/graph.cpp", '#include "../ops/op_def.h"\n')
    write(tmp_path, "lib/ops/op_def.h", "")
    assert check("includes", tmp_path).returncode == 1


def test_a_long_file_is_named_and_an_isa_header_is_not(tmp_path):
    write(tmp_path, "lib/codegen/isa/avx2.h", "\n" * 501)
    write(tmp_path, "passes/fold.cpp", "\n" * 500)
    assert check("sizes", tmp_path).returncode == 0
    write(tmp_path, "passes/fold.cpp", "\n" * 501)
    result = check("sizes", tmp_path)
    assert result.returncode == 1
    assert result.stdout.startswith("passes/fold.cpp: 501 lines")
