"""Records in order, bounded, and what is built from them."""
