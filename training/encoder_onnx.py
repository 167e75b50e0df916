"""Writes the encoders as ONNX files whose weights are whole numbers of eight bits, and their table of words.

    python training/encoder_onnx.py --folder build/encoder [--out FOLDER] [--exact]

What flows into a matrix is rounded by token, each with its own scale, so that products are exact whole numbers and a
row's logit cannot depend on its batch or on the machine. Weights keep to seven bits (and a sign's half): then two
products never overflow sixteen bits, where processors without VNNI would cut them off. The graph is built here by
hand: no exporter, and nothing in it that is not named below. `--exact` writes single precision, to compare with.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from encoder_weights import HEADS, LAYERS, WIDTH, Array, published_weights, sentence_weights, trained_weights
from onnx import TensorProto, helper, numpy_helper

FOLDER = Path(__file__).parent.parent / "packages" / "weights" / "adjudge_weights"
TRAINED = ("judge", "spans")
"""The encoders that were trained, by what training calls them; the third one is as published."""
PLACES = 272
"""Places of tokens that are kept: no text is longer."""
SECOND = 1
"""The layer, counted from 0, whose tokens the sentence encoder gives beside the last one's."""
MOST = 63
"""The largest whole number that a weight becomes."""
OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]


class Graph:
    """Nodes and constants of a graph that is being written; tokens of all rows stand below one another."""

    def __init__(self, *, exact: bool) -> None:
        self.exact = exact
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def constant(self, value: Any, name: str, kind: type = np.float32) -> str:
        """Keep a constant under a name."""
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(np.asarray(value, kind)), name)
        return name

    def whole(self, *values: int) -> str:
        """Keep whole numbers, a list of them."""
        return self.constant(values, f"int{values}", np.int64)

    def add(self, kind: str, *inputs: str, outputs: int = 1, **settings: Any) -> Any:
        """Add a node; return the name of what it gives, or the names."""
        made = [f"{kind}{len(self.nodes)}.{at}" for at in range(outputs)]
        domain = "com.microsoft" if kind in ("Gelu", "MatMulIntegerToFloat") else ""
        self.nodes.append(helper.make_node(kind, list(inputs), made, domain=domain, **settings))
        return made[0] if outputs == 1 else made

    def linear(self, x: str, weights: dict[str, Array], name: str) -> str:
        """Return tokens times the transpose of a matrix (out, in), plus its bias."""
        matrix, bias = weights[f"{name}.weight"], self.constant(weights[f"{name}.bias"], f"{name}.bias")
        if self.exact:
            return str(self.add("Add", self.add("MatMul", x, self.constant(matrix.T, name)), bias))
        most = self.add("ReduceMax", self.add("Abs", x), axes=[1], keepdims=0)
        step = self.add("Mul", self.add("Max", most, self.constant(1e-6, "tiny")), self.constant(1 / 127, "127th"))
        middle = self.constant(128, "middle", np.uint8)
        small = self.add("QuantizeLinear", x, step, self.add("Expand", middle, self.add("Shape", step)), axis=0)
        packed, steps = packed_weights(matrix)
        whole = self.constant(packed.T, name, np.int8)
        scales = self.constant(1, "one"), self.constant(steps, f"{name}.steps")
        product = self.add("MatMulIntegerToFloat", small, whole, *scales, middle)
        return str(self.add("Add", self.add("Mul", product, self.add("Unsqueeze", step, self.whole(1))), bias))

    def float(self, x: str) -> str:
        """Return whole numbers or truths as floats."""
        return str(self.add("Cast", x, to=TensorProto.FLOAT))

    def norm(self, x: str, weights: dict[str, Array], name: str) -> str:
        """Return tokens normalised, each by itself."""
        parts = [self.constant(weights[f"{name}.{part}"], f"{name}.{part}") for part in ("weight", "bias")]
        return str(self.add("LayerNormalization", x, *parts, axis=-1, epsilon=1e-12))


def packed_weights(matrix: Array) -> tuple[Array, Array]:
    """Return a matrix (out, in) as whole numbers, and the step of each of its rows.

    >>> packed, steps = packed_weights(np.array([[1.0, -0.5], [0.0, 0.0]]))
    >>> packed.tolist(), (steps * MOST).round(3).tolist()
    ([[63, -32], [0, 0]], [1.0, 0.0])
    """
    steps = np.maximum(np.abs(matrix).max(1), 1e-9) / MOST
    return np.rint(matrix / steps[:, None]).astype(np.int8), steps.astype(np.float32)


def packed_words(table: Array) -> dict[str, Array]:
    """Return the table of words as whole numbers, and the step of each row."""
    steps = np.maximum(np.abs(table).max(1), 1e-9) / 127
    return {"words": np.rint(table / steps[:, None]).astype(np.int8), "steps": steps.astype(np.float32)}


def embed(g: Graph, weights: dict[str, Array]) -> str:
    """Add places and segments to the words; return tokens below one another."""
    length = g.add("Slice", g.add("Shape", "mask"), g.whole(1), g.whole(2))
    place = g.add("Slice", g.constant(weights["place.weight"][:PLACES], "place"), g.whole(0), length, g.whole(0))
    kind = g.add("Gather", g.constant(weights["kind.weight"], "kind"), "segments")
    both = g.add("Add", g.add("Add", "words", place), kind)
    return g.norm(g.add("Reshape", both, g.whole(-1, WIDTH)), weights, "norm")


def layer(g: Graph, weights: dict[str, Array], number: int, x: str, hidden: str) -> str:
    """Add one layer: attention over the tokens of a row, then two matrices."""
    at = f"layers.{number}"
    size = g.add("Concat", g.add("Shape", "mask"), g.whole(3, HEADS, WIDTH // HEADS), axis=0)
    split = g.add("Reshape", g.linear(x, weights, f"{at}.qkv"), size)
    parts = g.add("Split", g.add("Transpose", split, perm=[2, 0, 3, 1, 4]), outputs=3, axis=0)
    query, key, value = (g.add("Squeeze", part, g.whole(0)) for part in parts)
    query = g.add("Mul", query, g.constant((WIDTH / HEADS) ** -0.5, "root"))
    match = g.add("Add", g.add("MatMul", query, g.add("Transpose", key, perm=[0, 1, 3, 2])), hidden)
    seen = g.add("MatMul", g.add("Softmax", match, axis=-1), value)
    seen = g.add("Reshape", g.add("Transpose", seen, perm=[0, 2, 1, 3]), g.whole(-1, WIDTH))
    x = g.norm(g.add("Add", x, g.linear(seen, weights, f"{at}.out")), weights, f"{at}.norm1")
    wide = g.add("Gelu", g.linear(x, weights, f"{at}.up"))
    return g.norm(g.add("Add", x, g.linear(wide, weights, f"{at}.down")), weights, f"{at}.norm2")


def head(g: Graph, weights: dict[str, Array], x: str, seen: str) -> None:
    """Add the head: means of all tokens, the references' and the candidate's, two layers, two logits."""
    rows = g.add("Reshape", x, g.add("Concat", g.add("Shape", "mask"), g.whole(WIDTH), axis=0))
    own = [g.add("Equal", "segments", g.constant(part, f"segment{part}", np.int64)) for part in (1, 2)]
    chosen = [seen, *(g.add("Mul", seen, g.float(part)) for part in own)]
    weight = g.add("Concat", *(g.add("Unsqueeze", part, g.whole(1)) for part in chosen), axis=1)
    count = g.add("Max", g.add("ReduceSum", weight, g.whole(2), keepdims=1), g.constant(1, "one"))
    # A product, since the order in which a plain sum adds depends on the number of rows.
    means = g.add("MatMul", g.add("Div", weight, count), rows)
    inner = g.add("Gelu", g.linear(g.add("Reshape", means, g.whole(-1, 3 * WIDTH)), weights, "head1"))
    out = g.add("MatMul", inner, g.constant(weights["head2.weight"].T, "head2"))
    g.nodes.append(helper.make_node("Add", [out, g.constant(weights["head2.bias"], "head2.bias")], ["logits"]))


def by_row(g: Graph, x: str, name: str, width: int = WIDTH) -> None:
    """Give what there is of each token row by row, under a name."""
    size = g.add("Concat", g.add("Shape", "mask"), g.whole(width), axis=0)
    g.nodes.append(helper.make_node("Reshape", [x, size], [name]))


def build(weights: dict[str, Array], *, exact: bool) -> onnx.ModelProto:
    """Return a model: words, segments and mask of rows in; out come two logits a row or a token, or tokens' vectors."""
    g = Graph(exact=exact)
    x = embed(g, weights)
    seen = g.float("mask")
    far = g.add("Mul", g.add("Sub", seen, g.constant(1, "one")), g.constant(1e9, "far"))
    hidden = g.add("Unsqueeze", far, g.whole(1, 2))
    is_judge, is_reader = "head1.weight" in weights, "span.weight" in weights
    for number in range(LAYERS):
        x = layer(g, weights, number, x, hidden)
        if number == SECOND and not (is_judge or is_reader):
            by_row(g, x, "second")
    if is_judge:
        head(g, weights, x, seen)
        wanted = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["rows", 2])]
    elif is_reader:
        by_row(g, g.linear(x, weights, "span"), "ends", 2)
        wanted = [helper.make_tensor_value_info("ends", TensorProto.FLOAT, ["rows", "length", 2])]
    else:
        by_row(g, x, "last")
        wanted = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", "length", WIDTH])
            for name in ("second", "last")
        ]
    given = [
        helper.make_tensor_value_info("words", TensorProto.FLOAT, ["rows", "length", WIDTH]),
        *(helper.make_tensor_value_info(name, TensorProto.INT64, ["rows", "length"]) for name in ("segments", "mask")),
    ]
    graph = helper.make_graph(g.nodes, "encoder", given, wanted, list(g.constants.values()))
    model = helper.make_model(graph, opset_imports=OPSETS, ir_version=9)
    onnx.checker.check_model(model)
    return model


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=FOLDER)
    parser.add_argument("--exact", action="store_true")
    options = parser.parse_args()
    # Half precision, as the reader was trained on.
    sentences = {
        name: part.astype(np.float16).astype(np.float32) for name, part in sentence_weights(published_weights()).items()
    }
    trained = {name: trained_weights(options.folder / name) for name in TRAINED}
    for name, weights in (*trained.items(), ("sentences", sentences)):
        model = build(weights, exact=options.exact)
        (options.out / f"{name}.onnx").write_bytes(model.SerializeToString(deterministic=True))
    table = sentences["word.weight"]
    exact = {"words": table, "steps": np.ones(len(table), np.float32)}
    np.savez(options.out / "words.npz", **(exact if options.exact else packed_words(table)))


if __name__ == "__main__":
    main()
