"""What becomes of an arm: items dropped from a bundle, arms that are void, the winner among candidates."""

from ledger.arms.validity import void_arms

__all__ = ["void_arms"]
