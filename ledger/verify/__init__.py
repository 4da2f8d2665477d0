"""Check a record or an archive to the last byte, without trusting whoever made it."""

from ledger.verify.archive import verify_archive
from ledger.verify.record import verify_record
from ledger.verify.report import CHECKS, Check, Report

__all__ = ["CHECKS", "Check", "Report", "verify_archive", "verify_record"]
