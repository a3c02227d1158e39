"""Walking the paths of a forest, and training on them."""
