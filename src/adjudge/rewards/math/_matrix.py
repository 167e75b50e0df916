"""Matrices worked out entry by entry: sums, products, multiples, transposes, determinants."""

from adjudge.rewards.math._tree import MINUS_ONE, Add, Group, Matrix, Mul, Node, Pow, Sym, children, walk

_WRITTEN_OUT = 4


def matrix_value(node: Node) -> Matrix | None:
    """Return a matrix, a tuple as a column, or a sum or product of matrices worked out."""
    match node:
        case Matrix():
            return node
        case Group(items, "[", "]") if all(_is_row(item, items[0]) for item in items):
            return Matrix(tuple(children(item) for item in items))
        case Group(items, _, _):
            return Matrix(tuple((item,) for item in items))
        case Add(items):
            parts = [matrix_value(item) for item in items]
            known = [part for part in parts if part is not None]
            if len(known) != len(parts) or len({(len(part.rows), len(part.rows[0])) for part in known}) != 1:
                return None
            rows, columns = len(known[0].rows), len(known[0].rows[0])
            return Matrix(
                tuple(
                    tuple(Add(tuple(part.rows[row][column] for part in known)) for column in range(columns))
                    for row in range(rows)
                )
            )
        case Mul(items):
            return _matrix_product(items)
        case Pow(Matrix(lines), Sym("T" | "top" | "intercal")):
            return Matrix(tuple(zip(*lines, strict=True)))
        case _:
            return None


def determinant(matrix: Matrix) -> Node | None:
    """Return the determinant of a small square matrix, written out along its first row."""
    rows = matrix.rows
    if len(rows) != len(rows[0]) or len(rows) > _WRITTEN_OUT:
        return None
    if len(rows) == 1:
        return rows[0][0]
    terms: list[Node] = []
    for column, entry in enumerate(rows[0]):
        minor = determinant(Matrix(tuple((*row[:column], *row[column + 1 :]) for row in rows[1:])))
        if minor is None:
            return None
        terms.append(Mul((MINUS_ONE, entry, minor)) if column % 2 else Mul((entry, minor)))
    return Add(tuple(terms))


def _is_row(item: Node, first: Node) -> bool:
    """Whether an element of `[[1, 2], [3, 4]]` is a row as long as the first."""
    is_list = isinstance(item, Group) and (item.left, item.right) == ("[", "]")
    return is_list and len(children(item)) == len(children(first))


def _matrix_product(items: tuple[Node, ...]) -> Matrix | None:
    scale: list[Node] = []
    result: Matrix | None = None
    for item in items:
        if not any(isinstance(part, Matrix) for part in walk(item)):
            scale.append(item)
            continue
        factor = matrix_value(item)
        if factor is None:
            return None
        if result is None:
            result = factor
            continue
        if len(result.rows[0]) != len(factor.rows) or len(result.rows) * len(factor.rows[0]) > 64:
            return None
        columns = list(zip(*factor.rows, strict=True))
        result = Matrix(
            tuple(
                tuple(Add(tuple(Mul(pair) for pair in zip(row, column, strict=True))) for column in columns)
                for row in result.rows
            )
        )
        # Every factor multiplies the size of the entries: it is counted before anything goes through them.
        for _ in walk(result):
            pass
    if result is None or not scale:
        return result
    return Matrix(tuple(tuple(Mul((*scale, entry)) for entry in row) for row in result.rows))
