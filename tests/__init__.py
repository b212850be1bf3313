"""Tests; they mirror the source: app/x/y.py is tested by tests/x/test_y.py."""
