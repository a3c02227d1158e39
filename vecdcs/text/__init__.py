"""Raw text to UD sentences: CoNLL-U, and the parser."""
