"""Formal semantics: trees, rules, denotations. Pure Python, no numpy."""
