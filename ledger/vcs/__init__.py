"""The only door to git; the work is done in the modules named below."""

from ledger.vcs.checkout import checkout
from ledger.vcs.objects import Head, TreeFile
from ledger.vcs.past import Past, Removal
from ledger.vcs.repo import Repo, identity, open_repo

__all__ = ["Head", "Past", "Removal", "Repo", "TreeFile", "checkout", "identity", "open_repo"]
