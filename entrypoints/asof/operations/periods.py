"""Periods of valid time, as every door shows them."""

from asof_projections.model.periods import is_right_before

__all__ = ["is_right_before"]
