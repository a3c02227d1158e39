"""The page in the browser, and its JSON interface."""
