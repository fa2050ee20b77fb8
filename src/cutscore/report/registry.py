"""The charts of the page, in its order: one row each. The histograms stand above them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cutscore.report.charts import (
    Chart,
    draw_benefit,
    draw_by_group,
    draw_calibration,
    draw_costs,
    draw_precision_recall,
    draw_roc,
    draw_surface,
)
from cutscore.report.summary import Summary


class PageChart(NamedTuple):
    """A chart, and when the page has it. Its text for screen readers is its own ``description``,
    or in ``described`` of ``parts.html`` if it changes with the sliders."""

    draw: Callable[[Summary], Chart]
    one_threshold: bool = False
    """Whether it is about a single threshold, so that it is left out if there are two, or one for
    each group or row."""
    of_grid: bool = False
    """Whether it needs the grid of a model with two features."""

    def applies(self, summary: Summary) -> bool:
        """Whether the page of this summary has it."""
        several = summary.asked.three_way or not summary.on_score
        fits = not (self.one_threshold and several)
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


def charts_by_group(summary: Summary) -> list[Chart]:
    """Those of each measure of groups, if the policy knows of groups."""
    g = summary.group_results
    return [] if g is None else [draw_by_group(summary, name) for name in g.measures]
