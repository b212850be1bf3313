"""What people open elsewhere: Perfetto, Chrome, CSV, JSON lines, one HTML file; redacted."""
