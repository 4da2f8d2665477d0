"""Worked examples of plug-in workloads."""
