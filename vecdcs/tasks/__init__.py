"""Benchmarks, one short file each."""
