"""Draws results.svg, the chart in the project's README, from the figures of a run."""

from __future__ import annotations

from html import escape
from pathlib import Path

import catalogue
from catalogue import OURS, PEER_NAMES
from report import Figures, best, cost

# The lines that are drawn: key of the section, name of the line, title of the panel.
PANELS = [
    ("import", "NumPy array", "Import a NumPy array"),
    ("import", "PyTorch tensor", "Import a PyTorch tensor"),
    ("export", "to NumPy", "Own tensor to np.from_dlpack"),
    ("call", "three NumPy arrays", "Call f(a, b, c) with NumPy arrays"),
    ("call", "three PyTorch tensors", "Call f(a, b, c) with PyTorch tensors"),
    ("call", "three of each library's own", "Call f(a, b, c) with own tensors"),
]

COLUMNS, WIDTH, MARGIN = 3, 960, 16
ROW, TITLE, LABEL, FIGURE = 22, 40, 92, 66  # height of a bar's row and of a title; width of the words beside a bar
CUT = 6  # bars longer than this many times ours are cut off, and say so

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #0f172a }
  .card { fill: #ffffff; stroke: #cbd5e1 }
  .title { font-weight: 600 }
  .ours { fill: #0891b2 } .peer { fill: #94a3b8 }
  .cut { stroke: #ffffff; stroke-width: 3 }
  .note { font-size: 12px; fill: #475569 }
"""


def bars(figures: Figures, key: str, name: str) -> dict[str, float]:
    """The costs of a panel, ours first, then the fastest peer."""
    section = next(section for section in catalogue.SECTIONS if section.key == key)
    line = next(line for line in section.lines if line.name == name)
    passes = figures.of(section, line)
    drawn = {"NumPy", "PyTorch", *PEER_NAMES.values()}
    costs = {peer: best(passes, peer) for peer in (passes[0] if passes else ()) if peer in drawn}
    ours = {OURS: best(passes, OURS)} if passes else {}
    return ours | dict(sorted(costs.items(), key=lambda item: item[1]))


def panel(title: str, costs: dict[str, float], x: float, y: float, width: float) -> list[str]:
    """One card of bars."""
    full = width - LABEL - FIGURE
    longest = min(max(costs.values()), CUT * costs[OURS])
    drawn = [f'<text class="title" x="{x + 12}" y="{y + 24}">{escape(title)}</text>']
    for row, (name, figure) in enumerate(costs.items()):
        top = y + TITLE + row * ROW
        length = max(2, full * min(figure, longest) / longest)
        kind = "ours" if name == OURS else "peer"
        weight = ' class="title"' if name == OURS else ""
        drawn += [
            f'<text{weight} x="{x + LABEL - 6}" y="{top + 14}" text-anchor="end">{escape(name)}</text>',
            f'<rect class="{kind}" x="{x + LABEL}" y="{top + 2}" width="{length:.1f}" height="{ROW - 6}" rx="2"/>',
            f'<text{weight} x="{x + LABEL + length + 5:.1f}" y="{top + 14}">{cost(figure, "ns")}</text>',
        ]
        if figure > longest:
            notch = x + LABEL + length * 0.9
            drawn.append(f'<path class="cut" d="M{notch:.1f} {top + ROW - 2} l8 {6 - ROW - 4}"/>')
    return drawn


def svg(figures: Figures) -> str:
    """The whole chart. Empty when a line of it was not measured."""
    panels = [(title, bars(figures, key, name)) for key, name, title in PANELS]
    if not all(costs for _, costs in panels):
        return ""
    width = (WIDTH - MARGIN * (COLUMNS + 1)) / COLUMNS
    y, parts = MARGIN, []
    for start in range(0, len(panels), COLUMNS):
        row = panels[start : start + COLUMNS]
        height = TITLE + ROW * max(len(costs) for _, costs in row) + 8
        for column, (title, costs) in enumerate(row):
            x = MARGIN + column * (width + MARGIN)
            parts.append(f'<rect class="card" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" rx="8"/>')
            parts += panel(title, costs, x, y, width)
        y += height + MARGIN
    note = f"The least of many short rounds in one run, GIL kept by all. Bars over {CUT} times ours are cut. Made by make bench."
    parts.append(f'<text class="note" x="{MARGIN}" y="{y + 6}">{note}</text>')
    size = f'viewBox="0 0 {WIDTH} {y + MARGIN + 4}" role="img" aria-label="{label(panels)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    background = f'<rect width="{WIDTH}" height="{y + MARGIN + 4}" rx="12" fill="#f8fafc"/>'
    return "\n".join([head, f"<style>{STYLE}</style>", background, *parts, "</svg>", ""])


def label(panels: list[tuple[str, dict[str, float]]]) -> str:
    """The chart in words."""
    said = (
        f"{title}: " + ", ".join(f"{name} {figure:.0f} ns" for name, figure in costs.items()) for title, costs in panels
    )
    return escape("; ".join(said))


def save(folder: Path, figures: Figures) -> None:
    """Write results.svg, when there is all that it shows."""
    if drawn := svg(figures):
        folder.joinpath("results.svg").write_text(drawn)
