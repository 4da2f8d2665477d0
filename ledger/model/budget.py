"""What a plan may cost, and what it was computed to cost.

The arithmetic is in ``ledger/budget.py``.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ledger.model.base import Positive, QuantityText, Strict, Text
from ledger.model.values import Value


class Budget(Strict):
    """The gate, and the numbers the estimate is computed from."""

    gate: QuantityText = Field(description="Most it may cost: device time (GPU-h) or wall time (h, min, s).")
    devices: Positive = Field(description="Devices a rung occupies.")
    step: QuantityText = Field(description="Longest time expected for one training step.")
    load: QuantityText | Literal["unknown"] = Field(description="Start-up and loading time of one rung.")
    eval: QuantityText | None = Field(default=None, description="Time of one evaluation; none is counted when absent.")
    save: QuantityText | None = Field(default=None, description="Time of one save; none is counted when absent.")
    stated: QuantityText | None = Field(
        default=None, description="The estimate people quote; must equal the computed one."
    )
    on_projected_overrun: Literal["stop", "warn"] = Field(default="stop", description="What the runner does.")


class Cost(Strict):
    """The computed estimate, and the gate it is held against."""

    estimate: Value = Field(description="Computed cost; a lower bound when a part is unknown.")
    gate: Value = Field(description="The plan's gate.")
    arithmetic: Text = Field(description="How the estimate comes about.")
