"""What becomes of an arm: items dropped from a bundle, arms that are void, the winner among candidates, banked runs."""

from ledger.arms.banked import Kept, pinned
from ledger.arms.bundles import Settled, settle
from ledger.arms.oracles import Besides, Runs
from ledger.arms.selection import Choice, choose
from ledger.arms.validity import void_arms

__all__ = ["Besides", "Choice", "Kept", "Runs", "Settled", "choose", "pinned", "settle", "void_arms"]
