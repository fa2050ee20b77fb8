"""The charts of the page, in its order: one row each. The histograms stand above them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cutscore.report.charts import (
    Chart,
    draw_benefit,
    draw_calibration,
    draw_costs,
    draw_precision_recall,
    draw_roc,
    draw_surface,
)
from cutscore.report.summary import Summary


class PageChart(NamedTuple):
    """A chart, and when the page has it. Its text for screen readers is in ``described`` of
    ``page.html``."""

    draw: Callable[[Summary], Chart]
    one_threshold: bool = False
    """Whether it is about a single threshold, so that it is left out if there are two."""
    of_grid: bool = False
    """Whether it needs the grid of a model with two features."""

    def applies(self, summary: Summary) -> bool:
        """Whether the page of this summary has it."""
        fits = not (self.one_threshold and summary.asked.three_way)
        return fits and not (self.of_grid and summary.grid is None)


CHARTS = (
    PageChart(draw_roc),
    PageChart(draw_precision_recall),
    PageChart(draw_costs, one_threshold=True),
    PageChart(draw_benefit, one_threshold=True),
    PageChart(draw_calibration),
    PageChart(draw_surface, of_grid=True),
)


def charts(summary: Summary) -> list[Chart]:
    """All charts that the page of this summary has."""
    return [chart.draw(summary) for chart in CHARTS if chart.applies(summary)]
