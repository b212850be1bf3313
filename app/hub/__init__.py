"""One session per viewer: snapshot, batches, lag, and the wire format."""
