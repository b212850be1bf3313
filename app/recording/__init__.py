"""Recordings: written while a session runs, read whatever became of the file, run again."""
