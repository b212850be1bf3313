"""Recordings made playable: cut into pieces, with all that a page needs of each."""
