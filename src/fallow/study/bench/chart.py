"""F1 against energy as a picture: a point with error bars for each entrant, in SVG that the page's style colours."""

import html
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fallow.study.intervals import Interval

WIDTH, HEIGHT = 460, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 12, 44
COLOURS = 7
MARKS = (
    "M{l},{y}a{r},{r} 0 1,0 {d},0a{r},{r} 0 1,0 -{d},0z",
    "M{l},{t}h{d}v{d}h-{d}z",
    "M{x},{t}L{e},{b}H{l}z",
    "M{x},{t}L{e},{y}L{x},{b}L{l},{y}z",
    "M{x},{b}L{e},{t}H{l}z",
)
"""Disc, square, triangle up, diamond, triangle down; with seven colours, 35 that can be told apart."""

ROOM = 0.06
"""The share of the axes that is left free on each side."""


@dataclass(frozen=True)
class Point:
    """Where an entrant is drawn.

    Attributes:
        name: Who.
        f1: Mean and 95 % interval.
        energy: Likewise, in units.
        entered: Whether it is one of the entrants, which are drawn larger and named.
    """

    name: str
    f1: Interval
    energy: Interval
    entered: bool


def draw_chart(title: str, points: Sequence[Point], bounds: Mapping[str, float], numbers: Mapping[str, int]) -> str:
    """Returns the picture of a scenario.

    Args:
        title: What it shows, for those who can't see it.
        points: Those that compete.
        bounds: The F1 of policies for which energy is no limit, by name: lines across the picture.
        numbers: The colour and mark of each name.
    """
    x_low, x_high = _range([end for point in points for end in _ends(point.energy)])
    y_low, y_high = _range([*(end for point in points for end in _ends(point.f1)), *bounds.values()])

    def x(value: float) -> float:
        return LEFT + (value - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (value - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html.escape(title, quote=True)}">'
    ]
    for tick in _ticks(y_low, y_high):
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:.6g}</text>')
    foot = HEIGHT - BOTTOM
    for tick in _ticks(x_low, x_high):
        parts.append(f'<line class="axis" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{foot}" y2="{foot + 5}"/>')
        parts.append(f'<text x="{x(tick):.1f}" y="{foot + 19}" text-anchor="middle">{tick:,.6g}</text>')
    parts += [
        f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{foot}" y2="{foot}"/>',
        f'<text class="title" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">'
        "energy spent (units)</text>",
        f'<text class="title" text-anchor="middle" transform="translate(13 {(TOP + foot) / 2}) rotate(-90)">macro F1'
        "</text>",
    ]
    for name, f1 in bounds.items():
        parts.append(f'<line class="cursor" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(f1):.1f}" y2="{y(f1):.1f}"/>')
        parts.append(f'<text x="{WIDTH - RIGHT}" y="{y(f1) - 4:.1f}" text-anchor="end">{html.escape(name)}</text>')
    for point in sorted(points, key=lambda point: point.entered):  # entrants on top
        parts.append(_draw_point(point, numbers[point.name], x, y))
    return "\n".join([*parts, "</svg>"])


def draw_mark(number: int, x: float, y: float, size: float) -> str:
    """Returns the mark of a number, in its colour.

    Args:
        number: Which mark and colour; 35 can be told apart.
        x: Of its middle.
        y: Of its middle.
        size: From the middle to the edge.
    """
    places = {"x": x, "y": y, "l": x - size, "e": x + size, "t": y - size, "b": y + size, "r": size, "d": 2 * size}
    path = MARKS[number % len(MARKS)].format(**{key: f"{value:.1f}" for key, value in places.items()})
    return f'<path d="{path}" fill="{_colour(number)}"/>'


def _draw_point(point: Point, number: int, x: Callable[[float], float], y: Callable[[float], float]) -> str:
    """Returns the mark of an entrant with its error bars, and its name if it was entered; hovering tells the rest."""
    across, up = x(point.energy.mean), y(point.f1.mean)
    words = f"{point.name}: F1 {point.f1.mean:.3f}, {point.energy.mean:,.0f} units, {point.f1.count} seeds"
    stroke = f'stroke="{_colour(number)}" stroke-width="{2 if point.entered else 1.2}"'
    (left, right), (low, high) = _ends(point.energy), _ends(point.f1)
    parts = [
        f'<g class="point"><title>{html.escape(words)}</title>',
        f'<line x1="{x(left):.1f}" x2="{x(right):.1f}" y1="{up:.1f}" y2="{up:.1f}" {stroke}/>',
        f'<line x1="{across:.1f}" x2="{across:.1f}" y1="{y(low):.1f}" y2="{y(high):.1f}" {stroke}/>',
        draw_mark(number, across, up, 6.5 if point.entered else 4.2),
    ]
    if point.entered:
        side, anchor = (-10, "end") if across > WIDTH / 2 else (10, "start")
        parts.append(
            f'<text class="strong" x="{across + side:.1f}" y="{up - 8:.1f}" text-anchor="{anchor}">'
            f"{html.escape(point.name)}</text>"
        )
    return "".join([*parts, "</g>"])


def _colour(number: int) -> str:
    return f"var(--line-{number % COLOURS})"


def _ends(interval: Interval) -> tuple[float, float]:
    """Returns the ends of an error bar; without an interval it has no length."""
    return (interval.low, interval.high) if interval.count > 1 else (interval.mean, interval.mean)


def _range(values: Sequence[float]) -> tuple[float, float]:
    """Returns the ends of an axis on which all values have room."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    room = ROOM * (high - low) or abs(high) * ROOM or 1.0
    return low - room, high + room


def _ticks(low: float, high: float) -> list[float]:
    """Returns about five round numbers between two."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    return [place * step for place in range(math.ceil(low / step), math.floor(high / step) + 1)]
