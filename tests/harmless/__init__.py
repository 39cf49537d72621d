"""Nothing of ours changes a store: not a byte, not a time, not a name beside it."""
