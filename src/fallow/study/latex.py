"""Tables in LaTeX, with the rules of the package booktabs."""

import re
from collections.abc import Sequence

ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "…": r"\dots{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
}
FIGURE = r"[+-]?[\d,]*\d(\.\d+)?"
NUMBER = re.compile(rf"^{FIGURE}( ± {FIGURE}| \[{FIGURE}, {FIGURE}\])?$")


def to_latex(headings: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> str:
    r"""Returns a table as a tabular environment; it needs ``\usepackage{booktabs}``.

    Args:
        headings: Of the columns.
        rows: Cells as text.
        words: How many columns, from the left, hold words; the others hold numbers and stand on the right.

    Examples:
        >>> print(to_latex(["policy", "units"], [["fedbacys_odd", "7,014 ± 89"]], 1))
        \begin{tabular}{lr}
        \toprule
        policy & units \\
        \midrule
        fedbacys\_odd & $7{,}014 \pm 89$ \\
        \bottomrule
        \end{tabular}
    """
    lines = [
        rf"\begin{{tabular}}{{{'l' * words}{'r' * (len(headings) - words)}}}",
        r"\toprule",
        _line([escape(heading) for heading in headings]),
        r"\midrule",
        *(_line([escape(cell) if place < words else _number(cell) for place, cell in enumerate(row)]) for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def escape(text: str) -> str:
    """Returns a text so that LaTeX prints it. Line breaks become spaces.

    Args:
        text: Any text.
    """
    return "".join(ESCAPES.get(letter, letter) for letter in " ".join(text.split()))


def _number(cell: str) -> str:
    if not NUMBER.match(cell):
        return escape(cell)
    grouped = re.sub(r",(?=\d)", "{,}", cell)  # a comma between digits, not the one between the ends of an interval
    return f"${grouped.replace('±', chr(92) + 'pm').replace(' [', chr(92) + ' [').replace(', ', ',' + chr(92) + ' ')}$"


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"
