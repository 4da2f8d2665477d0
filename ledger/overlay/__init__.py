"""Loss curves that must overlay the control's within a frozen band."""

from ledger.overlay.band import band_by_step, reruns_of, ulp32
from ledger.overlay.curves import RunByRung, failed
from ledger.overlay.points import overlay_points, unknown_point

__all__ = ["RunByRung", "band_by_step", "failed", "overlay_points", "reruns_of", "ulp32", "unknown_point"]
